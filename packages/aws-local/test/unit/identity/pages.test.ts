import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { noticePage, pageHeaders, signInPage } from '../../../src/identity/pages.ts';

const user = { id: '1', email: 'admin@local.test', password: 'local-run', attributes: {} };

describe('the sign-in page', () => {
  it('shows its purpose and who can sign in', () => {
    const page = signInPage({ email: '', users: [user] });
    expect(page).toContain('Local run');
    expect(page).toContain('<td>admin@local.test</td><td>local-run</td>');
    expect(page).not.toContain('role="alert"');
  });

  it('labels its fields and focuses the first', () => {
    const page = signInPage({ email: '', users: [] });
    for (const name of ['email', 'password']) {
      expect(page).toMatch(new RegExp(`<label for="${name}">`));
      expect(page).toMatch(new RegExp(`<input id="${name}" name="${name}"`));
    }
    expect(page).toMatch(/id="email"[^>]* autofocus>/);
  });

  it('announces a failure, and focuses the wrong field', () => {
    const page = signInPage({ email: 'admin@local.test', failure: 'Wrong.', users: [] });
    expect(page).toContain('<p class="wrong" id="failure" role="alert">Wrong.</p>');
    expect(page).toMatch(/id="password"[^>]* aria-describedby="failure" autofocus>/);
    expect(page).toContain('value="admin@local.test"');
  });

  it('escapes all input', () => {
    fc.assert(
      fc.property(fc.string(), (typed) => {
        const hostile = `"'><script>alert(1)</script>&${typed}`;
        const page = signInPage({ email: hostile, failure: hostile, users: [{ ...user, email: hostile }] });
        expect(page).not.toContain('<script');
        expect(page).not.toContain(`value="${hostile}`);
        expect(noticePage(hostile, hostile, hostile)).not.toContain('<script');
      }),
    );
  });
});

describe('the headers of a page', () => {
  const policy = (destinations: string[]) => pageHeaders(destinations)['Content-Security-Policy'] ?? '';

  it('permit no external content, no script and no frame', () => {
    expect(policy([])).toMatch(/^default-src 'none'; style-src 'sha256-[\w+/]+='; form-action 'self'; /);
    expect(policy([])).toContain("frame-ancestors 'none'; base-uri 'none'");
  });

  it("permit a form to redirect to the clients' applications", () => {
    expect(
      policy(['http://localhost:3000/signed-in', 'http://localhost:3000/', 'inbox://signed-in']),
    ).toContain("form-action 'self' http://localhost:3000 inbox:;");
  });
});
