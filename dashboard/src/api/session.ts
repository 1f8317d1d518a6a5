import { keepSession, type News } from './session-keeper.ts';

export type { Person, SessionState } from './session-keeper.ts';

/**
 * All tabs hear of a sign-in or sign-out in one of them; its cookies are worked with under a lock of the same
 * name.
 */
const NAME = 'session';

const news = new BroadcastChannel(NAME);

/** The session of this page's user. */
export const session = keepSession({
  fetch: (path, init) => fetch(path, init),
  exclusively: (work) => navigator.locks.request(NAME, work),
  tell: (said) => news.postMessage(said),
  reload: () => window.location.reload(),
  after(milliseconds, action) {
    const timer = setTimeout(action, milliseconds);
    return () => clearTimeout(timer);
  },
  now: () => Date.now(),
});

news.addEventListener('message', ({ data }: MessageEvent<News>) => void session.hear(data));
// The page came from the back/forward cache.
window.addEventListener('pageshow', ({ persisted }) => {
  if (persisted) void session.look();
});
