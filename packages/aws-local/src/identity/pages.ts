import { createHash } from 'node:crypto';
import { escapeHtml, htmlPage } from '../pages/html.ts';
import { STYLE } from './style.ts';
import type { KnownUser } from './users.ts';

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/**
 * Header fields of every page: no external content, no scripts, no frames.
 * @param destinations URLs that a form may redirect to; browsers check them against the form's page
 */
export function pageHeaders(destinations: readonly string[]): Record<string, string> {
  const targets = new Set(["'self'", ...destinations.map(toPolicySource)]);
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': [
      "default-src 'none'",
      `style-src 'sha256-${STYLE_HASH}'`,
      `form-action ${[...targets].join(' ')}`,
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ].join('; '),
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
  };
}

/** Source in a Content Security Policy: an origin, or the scheme of an app's own URLs. */
function toPolicySource(address: string): string {
  const { protocol, origin } = new URL(address);
  return origin === 'null' ? protocol : origin;
}

/**
 * @param email prefilled
 * @param failure error of the previous attempt
 */
export function signInPage(options: {
  email: string;
  failure?: string;
  users: readonly KnownUser[];
}): string {
  const { failure, users } = options;
  const email = escapeHtml(options.email);
  const invalid = failure === undefined ? '' : ' aria-invalid="true" aria-describedby="failure"';
  const focusOnPassword = email !== '';
  return page(
    failure === undefined ? 'Sign in' : 'Sign in: not successful',
    `<h1>Sign in</h1>
${failure === undefined ? '' : `<p class="wrong" id="failure" role="alert">${escapeHtml(failure)}</p>`}
<form method="post">
<label for="email">Email address</label>
<input id="email" name="email" type="email" autocomplete="username" required value="${email}"${invalid}${focusOnPassword ? '' : ' autofocus'}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required${invalid}${focusOnPassword ? ' autofocus' : ''}>
<button type="submit">Sign in</button>
</form>
${usersNote(users)}`,
  );
}

/** The page runs on the developer's machine, so it may list the users. */
function usersNote(users: readonly KnownUser[]): string {
  const rows = users.map(
    ({ email, password }) => `<tr><td>${escapeHtml(email)}</td><td>${escapeHtml(password)}</td></tr>`,
  );
  return users.length === 0
    ? '<aside><p>There are no users yet: the local run is still starting.</p></aside>'
    : `<aside><h2 id="users">Users of this local run</h2>
<table aria-labelledby="users"><thead><tr><th scope="col">Email address</th><th scope="col">Password</th></tr></thead>
<tbody>${rows.join('\n')}</tbody></table></aside>`;
}

/** @param form the provider's own, for the button */
export function signOutPage(form: string): string {
  return page(
    'Sign out',
    `<h1>Sign out?</h1>
${form}
<button type="submit" form="op.logoutForm" name="logout" value="yes" autofocus>Sign out</button>`,
  );
}

/** @param detail for the application's developer */
export function noticePage(title: string, text: string, detail?: string): string {
  return page(
    title,
    `<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(text)}</p>
${detail === undefined ? '' : `<aside><p>${escapeHtml(detail)}</p></aside>`}`,
  );
}

const page = (title: string, content: string): string =>
  htmlPage(title, STYLE, `<p class="place">Local run</p>\n${content}`);
