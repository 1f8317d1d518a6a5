import { pathForShell } from 'terminal/local-run/directory.ts';
import { plain } from 'terminal/paint.ts';
import { describe, expect, it } from 'vitest';
import { renderDemonstration, renderReady } from '../../../lib/local-run/start/start-view.ts';
import { aDelivery } from './received-delivery.ts';

describe('the start screen', () => {
  it('shows the demonstrated delivery with its times', () => {
    const shown = renderDemonstration(
      { requestMs: 42, arrival: { kind: 'seen', deliveryMs: 38, delivery: aDelivery() } },
      plain,
    );
    expect(shown).toContain('201 after 42 ms');
    expect(shown).toContain('38 ms later');
    expect(shown).toContain('✓ verified');
  });

  const place = {
    baseUrl: 'http://localhost:3000',
    dashboardUrl: 'http://localhost:3000/',
    mailboxUrl: 'http://localhost:3000/mailbox',
    environmentFile: '/project/.local/env',
    logFile: '/project/.local/logs/functions.log',
    cwd: '/project',
    sessions: true,
    sandbox: true,
    times: [],
  };
  const settingsCall = 'curl -H "Authorization: Bearer $ADMIN_TOKEN" $BASE_URL/api/settings/organization';

  it("ends with the API's URL and the next steps", () => {
    const shown = renderReady(place, plain);
    expect(shown).toContain(
      [
        '  Dashboard  http://localhost:3000/',
        '  Ready      http://localhost:3000/api/v1',
        '  Reference  http://localhost:3000/docs',
        '  Mail       http://localhost:3000/mailbox\n',
      ].join('\n'),
    );
    expect(shown).toContain('source .local/env ');
    expect(shown).toContain('curl -H "Authorization: Bearer $API_KEY" $BASE_URL/api/v1/conversations');
    expect(shown).toContain(settingsCall);
    expect(shown).toContain('npx conversations listen');
    expect(shown).toMatch(/npx conversations listen --sandbox --forward URL .*\$SANDBOX_API_KEY/);
    expect(shown).toContain('Ctrl-C');
  });

  it('shows times that differ from those of a deployment', () => {
    const shown = renderReady({ ...place, times: ['RETRY_BASE_SECONDS=1', 'NOTICE_SECONDS=60'] }, plain);
    expect(shown).toContain('\n  Times      RETRY_BASE_SECONDS=1 NOTICE_SECONDS=60\n');
  });

  it('omits the dashboard where the stack has none', () => {
    const { dashboardUrl: _, ...without } = place;
    expect(renderReady(without, plain)).not.toContain('Dashboard');
  });

  it('omits the users where sign-in is missing', () => {
    expect(renderReady({ ...place, sessions: false }, plain)).not.toContain('ADMIN_TOKEN');
  });

  it('omits the sandbox where there is none', () => {
    expect(renderReady({ ...place, sandbox: false }, plain)).not.toContain('--forward');
  });

  it.each([
    ['/project/.local/env', '.local/env'],
    ['/elsewhere/env', '/elsewhere/env'],
    ['/project/my files/env', "'my files/env'"],
  ])('shows the path %s as %s', (path, shown) => {
    expect(pathForShell(path, '/project')).toBe(shown);
  });
});
