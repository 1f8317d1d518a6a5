import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { pathForShell } from 'terminal/local-run/directory.ts';
import { plain } from 'terminal/paint.ts';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fingerprintOf } from '../../../lib/local-run/start/assembly-inputs.ts';
import { ensureOrganization } from '../../../lib/local-run/start/organization.ts';
import { readSettings } from '../../../lib/local-run/start/settings.ts';
import { renderDemonstration, renderReady } from '../../../lib/local-run/start/start-view.ts';
import { contextOf } from '../../../lib/local-run/start/synthesis.ts';
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

const enrolled = {
  organizationId: 'org_new',
  key: { id: 'key_1', secretOnce: 'ck_live_new', environment: 'live', scopes: [] },
};
const kept = { id: 'org_old', apiKey: 'ck_live_old' };

describe('the organization of the local run', () => {
  it('is kept while its key works', async () => {
    const result = await ensureOrganization({
      name: 'Local organization',
      kept,
      accepts: async (key) => key === 'ck_live_old',
      enrol: async () => expect.unreachable(),
    });
    expect(result).toEqual({ organization: kept, isNew: false });
  });

  it.each([
    ['there is none', undefined],
    ['its key is refused', kept],
  ])('is created when %s', async (_, existing) => {
    const requests: unknown[] = [];
    const result = await ensureOrganization({
      name: 'Local organization',
      kept: existing,
      accepts: async () => false,
      enrol: async (request) => {
        requests.push(request);
        return enrolled;
      },
    });
    expect(result).toEqual({ organization: { id: 'org_new', apiKey: 'ck_live_new' }, isNew: true });
    expect(requests).toEqual([{ name: 'Local organization', tier: 'scale' }]);
  });

  it('lists what the enrolment did not return', async () => {
    const without = ensureOrganization({
      name: 'Local organization',
      kept: undefined,
      accepts: async () => false,
      enrol: async () => ({ organizationId: 'org_new', key: {} }),
    });
    await expect(without).rejects.toThrow('key.secretOnce');
  });
});

const context = (variables: Record<string, string>) =>
  contextOf(readSettings(variables, '/'), 'http://localhost:1234').settings;

describe('the context of the stack', () => {
  it('has only the settings that were given', () => {
    const always = {
      class: 'development',
      lowCost: false,
      redeliveryGroup: 1,
      dashboard: { origin: 'http://localhost:1234' },
      mailFrom: 'notifications@local.test',
    };
    expect(context({})).toEqual(always);
    const variables = { RETRY_BASE_SECONDS: '0.1', CHECK_EVERY_SECONDS: '2', NOTICE_SECONDS: '3' };
    expect(context({ ...variables, PORT: '1' })).toEqual({
      retryBaseSeconds: 0.1,
      checkEverySeconds: 2,
      noticeSeconds: 3,
      ...always,
    });
  });

  it('gives the rate limit to the tier of the local organization', () => {
    expect(context({ RATE_LIMIT_PER_MINUTE: '1000000' })).toMatchObject({
      rateLimits: { scale: 1_000_000, standard: 600, sandbox: 60 },
    });
  });

  it('gives the sandbox its own limit, and leaves a lower default as it is', () => {
    expect(context({ SANDBOX_RATE_LIMIT_PER_MINUTE: '5' })).toMatchObject({
      rateLimits: { scale: 6000, standard: 600, sandbox: 5 },
    });
  });

  it('never gives a tier more than a higher one', () => {
    const limit = fc.integer({ min: 1, max: 1_000_000_000 });
    const given = limit.chain((most) =>
      fc.record({
        RATE_LIMIT_PER_MINUTE: fc.constant(most),
        SANDBOX_RATE_LIMIT_PER_MINUTE: fc.option(fc.integer({ min: 1, max: most })),
      }),
    );
    fc.assert(
      fc.property(given, ({ RATE_LIMIT_PER_MINUTE: most, SANDBOX_RATE_LIMIT_PER_MINUTE: least }) => {
        const { scale, standard, sandbox } = Object(
          context({
            RATE_LIMIT_PER_MINUTE: String(most),
            ...(least === null ? {} : { SANDBOX_RATE_LIMIT_PER_MINUTE: String(least) }),
          }).rateLimits,
        );
        expect(scale).toBe(most);
        expect(standard).toBeLessThanOrEqual(most);
        expect(sandbox).toBeLessThanOrEqual(Number(standard));
        expect(sandbox).toBeGreaterThanOrEqual(1);
        if (least !== null) expect(sandbox).toBe(least);
      }),
    );
  });
});

const FILES = [
  'bin/app.ts',
  'lib/infra/stack.ts',
  'lib/openapi/page.ts',
  'functions/api/a.ts',
  'dashboard/index.html',
  'dashboard/package.json',
  'dashboard/public/icon.svg',
  'dashboard/src/main.tsx',
  'dashboard/tsconfig.json',
  'dashboard/vite.config.ts',
  'package.json',
  'package-lock.json',
];

async function aProject() {
  const project = await mkdtemp(join(tmpdir(), 'project-'));
  onTestFinished(() => rm(project, { recursive: true, force: true }));
  const write = async (file: string, text: string) => {
    await mkdir(dirname(join(project, file)), { recursive: true });
    await writeFile(join(project, file), text);
  };
  for (const file of FILES) await write(file, `the text of ${file}`);
  return { project, write, fingerprint: (context: object = {}) => fingerprintOf(project, context) };
}

it('is the same for the same inputs', async () => {
  const [first, second] = [await aProject(), await aProject()];
  expect(await first.fingerprint({ a: 1 })).toBe(await second.fingerprint({ a: 1 }));
});

it.each(FILES)('changes when %s changes', async (file) => {
  const { write, fingerprint } = await aProject();
  const before = await fingerprint();
  await write(file, 'another text');
  expect(await fingerprint()).not.toBe(before);
});

it('changes with another context, a further file, or a file of another name', async () => {
  const { project, write, fingerprint } = await aProject();
  const seen = [await fingerprint(), await fingerprint({ retryBaseSeconds: 1 })];
  await write('functions/api/b.ts', '');
  seen.push(await fingerprint());
  await rename(join(project, 'functions/api/b.ts'), join(project, 'functions/api/c.ts'));
  seen.push(await fingerprint());
  expect(new Set(seen).size).toBe(seen.length);
});

it('does not depend on files that no assembly is made of', async () => {
  const { write, fingerprint } = await aProject();
  const before = await fingerprint();
  await write('lib/local/cloud.ts', 'the local run');
  await write('test/unit/a.test.ts', 'a test');
  expect(await fingerprint()).toBe(before);
});
