"""A lock that is given to who asked first: a plain one goes to whoever happens to be awake."""

import threading
from collections import deque


class Turns:
    """One holder at a time, in the order of asking."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[threading.Event] = deque()
        self._is_taken = False

    def take(self, timeout_s: float) -> bool:
        """Waits for one's turn. False: it did not come in time, and one has left the line."""
        with self._lock:
            if not self._is_taken:
                self._is_taken = True
                return True
            mine = threading.Event()
            self._waiting.append(mine)
        if mine.wait(timeout_s):
            return True
        with self._lock:
            if mine.is_set():  # it came in this very moment
                return True
            self._waiting.remove(mine)
            return False

    def give_back(self) -> None:
        """Ends the holder's turn; the next in line has it."""
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._is_taken = False

    @property
    def is_free(self) -> bool:
        return not self._is_taken
