"""Every address of the product, but for the sockets (`live.routing`)."""

from django.urls import path
from django.views.generic import RedirectView

from swarmui.api.health import healthz, readyz
from swarmui.api.urls import urls as api_urls
from swarmui.views import nodes, runs, sign_in

handler500 = "swarmui.broken.broken"

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="runs"), name="home"),
    path("runs/", runs.run_list, name="runs"),
    path("runs/newer/", runs.newer_runs, name="runs_newer"),
    path("runs/new/", runs.run_new, name="run_new"),
    path("runs/<uuid:run_id>/", runs.run_detail, name="run"),
    path("runs/<uuid:run_id>/outline/", runs.run_outline, name="run_outline"),
    path("runs/<uuid:run_id>/head/", runs.run_head, name="run_head"),
    path("runs/<uuid:run_id>/nodes/<uuid:node_id>/", nodes.node_panel, name="node_panel"),
    path("sign-in/", sign_in.sign_in, name="sign_in"),
    path("sign-in/link/<str:token>/", sign_in.sign_in_link, name="sign_in_link"),
    path("sign-out/", sign_in.sign_out, name="sign_out"),
    path("api/v1/", api_urls),
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
]
