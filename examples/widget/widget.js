/* A conversation in a web page: reads its messages, and sends those of the visitor. Needs no build. */

const { api, tokenUrl } = document.querySelector('main').dataset;
const messages = document.querySelector('ol');
const status = document.querySelector('[role=status]');
const form = document.querySelector('form');
const input = document.querySelector('textarea');

/** All visitors of a conversation share 60 reads a minute. */
const POLL_MS = 3000;

let token;

async function call(query, body, idempotencyKey) {
  for (let renewed = token === undefined; ; renewed = true) {
    if (token === undefined) {
      const response = await fetch(tokenUrl, { method: 'POST' });
      if (!response.ok) throw new Error('You are not signed in.');
      ({ token } = await response.json());
    }
    const response = await fetch(`${api}/api/v1/widget/messages${query}`, {
      headers: {
        Authorization: `Bearer ${token}`,
        ...(body && { 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey }),
      },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
    if (response.ok) return response.json();
    // A token is valid for 15 minutes.
    if (response.status !== 401 || renewed)
      throw new Error(response.status === 429 ? 'Too many messages. Wait a minute.' : 'Not connected.');
    token = undefined;
  }
}

/** Adds a message once, in the order in which they were written. */
function show({ id, role, content, createdAt }) {
  if (document.getElementById(id)) return;
  const item = document.createElement('li');
  item.id = id;
  item.dataset.role = role;
  item.dataset.createdAt = createdAt;
  // As text, never as HTML: anyone may have written it.
  item.textContent = content;
  const next = [...messages.children].find(({ dataset }) => dataset.createdAt > createdAt);
  messages.insertBefore(item, next ?? null);
}

let cursor = '';

async function poll() {
  try {
    for (let hasMore = true; hasMore; ) {
      const page = await call(`?limit=100${cursor}`);
      page.data.forEach(show);
      cursor = `&cursor=${encodeURIComponent(page.followCursor)}`;
      hasMore = page.nextCursor !== null;
    }
    status.textContent = '';
  } catch (error) {
    status.textContent = error.message;
  }
  setTimeout(poll, POLL_MS);
}

/** A text has the same key in each try, so that it is recorded once when an answer was lost. */
let attempt = { content: '', key: '' };

async function send(event) {
  event.preventDefault();
  const content = input.value;
  if (content !== attempt.content) attempt = { content, key: crypto.randomUUID() };
  try {
    show((await call('', { content }, attempt.key)).data);
    attempt = { content: '', key: '' };
    form.reset();
  } catch (error) {
    status.textContent = error.message;
  }
}

form.addEventListener('submit', send);
void poll();
