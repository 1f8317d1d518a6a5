import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LANES } from '../../../functions/delivery/lanes.ts';
import { SettingError } from '../../../lib/infra/context.ts';
import { readSettings, reasonWithoutMailer, type Settings } from '../../../lib/infra/settings.ts';
import { RETENTION_DAYS, STAGES } from '../../../lib/infra/stages.ts';

const read = (context: Record<string, unknown> = {}): Settings =>
  readSettings({ tryGetContext: (name: string) => ({ stage: 'prod', ...context })[name] });
const MAIL = { mailFrom: 'notifications@mail.example.com', dashboardOrigin: 'https://dashboard.example.com' };
const CERTIFICATE = 'arn:aws:acm:eu-central-1:123456789012:certificate/0f2c-1';

describe('a stage', () => {
  it.each([
    ['dev', { keepsData: false, alarms: false, logRetentionDays: 7, release: 'at-once', rollsBack: false }],
    ['staging', { keepsData: true, alarms: true, logRetentionDays: 30, release: 'canary', rollsBack: true }],
    ['prod', { keepsData: true, alarms: true, logRetentionDays: 90, release: 'linear', rollsBack: true }],
  ])('%s has %j', (stage, policy) => {
    expect(read({ stage }).policy).toMatchObject({ stage, ...policy });
  });

  it('has the most of everything in production', () => {
    const [dev, staging, prod] = STAGES.map((stage) => read({ stage }).policy);
    for (const other of [dev, staging]) {
      for (const lane of LANES)
        expect(prod?.dispatchers[lane]).toBeGreaterThan(other?.dispatchers[lane] ?? Number.NaN);
      expect(prod?.throttle.rate).toBeGreaterThan(other?.throttle.rate ?? Number.NaN);
      expect(prod?.logRetentionDays).toBeGreaterThan(other?.logRetentionDays ?? Number.NaN);
    }
  });

  it.each([{ stage: 'production' }, { stage: 'Prod' }, { stage: 1 }])(
    'is one of three: %j is refused',
    (context) => {
      expect(() => read(context)).toThrow(/^context stage must be one of dev, staging, prod, not "/);
    },
  );

  it.each([{ stage: undefined }, { stage: '' }])('is dev for %j', (context) => {
    expect(read(context).policy).toMatchObject({ stage: 'dev', keepsData: false });
  });
});

describe('reserved concurrency', () => {
  const lane = fc.integer({ min: 10, max: 1000 });

  it('is, for the dispatcher, exactly the sum of its queues', () => {
    fc.assert(
      fc.property(lane, lane, lane, lane, (fresh, retry, slow, stalled) => {
        const { policy } = read({
          dispatchersFresh: fresh,
          dispatchersRetry: retry,
          dispatchersSlow: slow,
          dispatchersStalled: stalled,
        });
        expect(policy.dispatchers).toEqual({ fresh, retry, slow, stalled });
        expect(policy.reserved?.dispatch).toBe(fresh + retry + slow + stalled);
      }),
    );
  });

  it("leaves the API more than half of a new account's quota", () => {
    const { reserved } = read().policy;
    const { dispatch = 0, fanOut = 0, deliveryStream = 0, publish = 0 } = reserved ?? {};
    expect(dispatch + fanOut + deliveryStream + publish).toBeLessThan(500);
  });

  it('is absent in a development stage, whose account may be new, unless it is set', () => {
    expect(read({ stage: 'dev' }).policy.reserved).toBeUndefined();
    expect(read({ stage: 'dev', reserveConcurrency: 'true' }).policy.reserved?.dispatch).toBe(50);
    expect(read({ reserveConcurrency: false }).policy.reserved).toBeUndefined();
  });
});

const CONFIGURATION = readFileSync(
  join(import.meta.dirname, '../../../docs/reference/configuration.md'),
  'utf8',
);

it('the configuration reference lists each setting once', () => {
  const asked = new Set<string>();
  readSettings({ tryGetContext: (name) => void asked.add(name) });
  const rows = CONFIGURATION.slice(CONFIGURATION.indexOf('\n## Deployment settings')).matchAll(
    /^\| (`.+?`) \|/gm,
  );
  const listed = [...rows].flatMap(([, names = '']) => names.replaceAll('`', '').split(', '));
  expect(listed.toSorted()).toEqual([...asked].toSorted());
});

it('the configuration reference lists each delivery queue with its batches in progress', () => {
  const rows = CONFIGURATION.split('\n');
  for (const lane of LANES) {
    const batches = STAGES.map((stage) => read({ stage }).policy.dispatchers[lane]);
    expect(
      rows.find((row) => row.startsWith(`| \`${lane}\` |`)),
      lane,
    ).toMatch(new RegExp(` ${batches.join(' \\| ')} \\|$`));
  }
});

describe('a number in the context', () => {
  const stage = fc.constantFrom(...STAGES);
  const figures = fc.record(
    {
      dispatchersFresh: fc.integer({ min: -10, max: 3000 }),
      apiRate: fc.integer({ min: -10, max: 2_000_000 }),
      apiBurst: fc.integer({ min: -10, max: 2_000_000 }),
      logRetentionDays: fc.oneof(fc.constantFrom(...RETENTION_DAYS), fc.integer({ min: -10, max: 4000 })),
      retryBaseSeconds: fc.double({ min: -10, max: 5000, noNaN: true }),
    },
    { requiredKeys: [] },
  );

  it('is used as given, or refused with one line that names it', () => {
    fc.assert(
      fc.property(stage, figures, (name, context) => {
        let settings: Settings;
        try {
          settings = read({ stage: name, ...context });
        } catch (error) {
          expect(error).toBeInstanceOf(SettingError);
          const { message } = error as SettingError;
          expect(message).toMatch(/^context (\w+) [^\n]+$/);
          expect(Object.keys({ retryCapSeconds: 1, ...context })).toContain(message.split(' ')[1]);
          return;
        }
        const { policy } = settings;
        // Zero is zero, with either sign.
        for (const [given, got] of [
          [context.dispatchersFresh, policy.dispatchers.fresh],
          [context.apiRate, policy.throttle.rate],
          [context.apiBurst, policy.throttle.burst],
          [context.logRetentionDays, policy.logRetentionDays],
          [context.retryBaseSeconds, settings.retryBaseSeconds],
        ])
          if (given !== undefined) expect(got).toBe(Number(given) + 0);
        expect(RETENTION_DAYS).toContain(policy.logRetentionDays);
        expect(policy.throttle.burst).toBeGreaterThanOrEqual(policy.throttle.rate);
        expect(policy.dispatchers.fresh).toBeGreaterThanOrEqual(2);
        expect(policy.dispatchers.fresh).toBeLessThanOrEqual(1000);
      }),
      { numRuns: 1000 },
    );
  });

  it('may be a text, as on a command line', () => {
    fc.assert(
      fc.property(stage, fc.integer({ min: 100, max: 1000 }), (name, apiRate) => {
        expect(read({ stage: name, apiRate: String(apiRate) })).toEqual(read({ stage: name, apiRate }));
      }),
    );
  });
});

describe('an invalid or contradictory context value', () => {
  it.each<[Record<string, unknown>, string]>([
    [
      { attemptTimeoutSeconds: 0 },
      'attemptTimeoutSeconds must be a number of seconds from 0.1 to 60, not "0"',
    ],
    [{ retryBaseSeconds: 'soon' }, 'retryBaseSeconds must be a number of seconds from 0 to 3600, not "soon"'],
    [{ retryBaseSeconds: 10, retryCapSeconds: 5 }, 'retryCapSeconds must not be less than retryBaseSeconds'],
    [{ graceSeconds: 5 }, 'graceSeconds must be a number of seconds from 30 to 21600, not "5"'],
    [
      { redeliveryGroup: 17 },
      'redeliveryGroup must be a whole number of deliveries of a redelivery job at a time from 1 to 16, not "17"',
    ],
    [{ lowCost: true }, 'lowCost must not be true in stage prod, which bounds its concurrency'],
    [{ keyArn: 'alias/mine' }, 'keyArn must be the ARN of a key of KMS, not "alias/mine"'],
    [
      { stage: 'dev', encryptEnvironment: true },
      'encryptEnvironment goes with keyArn, or with lowCost=false',
    ],
    [{ lingerSeconds: 3601 }, 'lingerSeconds must be a number of seconds from 0 to 3600, not "3601"'],
    [{ ...MAIL, mailFrom: 'ada' }, 'mailFrom must be an e-mail address, not "ada"'],
    [
      { ...MAIL, mailFrom: 'Ada <ada@example.com>' },
      'mailFrom must be an e-mail address, not "Ada <ada@example.com>"',
    ],
    [{ ...MAIL, mailFrom: 'a@b@example.com' }, 'mailFrom must be an e-mail address, not "a@b@example.com"'],
    [{ ...MAIL, dashboardOrigin: '' }, 'mailFrom goes with dashboardOrigin, which e-mails link to'],
    [
      { ...MAIL, oidcIssuer: 'https://id.example.com', oidcAudience: 'dashboard' },
      "mailFrom goes with the stack's own user pool, whose admins e-mails are for, not with oidcIssuer",
    ],
    [
      { mailBudget: 0 },
      'mailBudget must be a whole number of recipients a day from 1 to 1000000000, not "0"',
    ],
    [
      { mailCeiling: 0.5 },
      'mailCeiling must be a whole number of recipients a day from 1 to 1000000000, not "0.5"',
    ],
    [{ noticeSeconds: 0 }, 'noticeSeconds must be a number of seconds from 1 to 2592000, not "0"'],
    [
      { checksPerOrganization: 1 },
      'checksPerOrganization must be a whole number of checks from 2 to 10, not "1"',
    ],
    [
      { checksPerOrganization: 11 },
      'checksPerOrganization must be a whole number of checks from 2 to 10, not "11"',
    ],
    [
      { watchWindowSeconds: 1.5 },
      'watchWindowSeconds must be a whole number of seconds from 0 to 300, not "1.5"',
    ],
    [
      { rateLimitStandard: 0 },
      'rateLimitStandard must be a whole number of requests a minute from 1 to 1000000000, not "0"',
    ],
    [{ rateLimitSandbox: 601 }, 'rateLimitSandbox must be the lowest of the rate limits'],
    [{ oidcIssuer: 'https://id.example.com' }, 'oidcIssuer and oidcAudience must be given together'],
    [
      { oidcIssuer: 'http://id.example.com', oidcAudience: 'a' },
      'oidcIssuer must be an https URL, not "http://id.example.com"',
    ],
    [{ oidcRoleClaim: 'role' }, 'oidcOrganizationClaim, oidcRoleClaim and oidcScope go with oidcIssuer'],
    [{ oidcScope: 'openid' }, 'oidcOrganizationClaim, oidcRoleClaim and oidcScope go with oidcIssuer'],
    ...['email', 'openid  email', 'openidx', ' openid', 'openid "x"'].map(
      (oidcScope): [Record<string, unknown>, string] => [
        { oidcIssuer: 'https://id.example.com', oidcAudience: 'a', oidcScope },
        `oidcScope must be scopes with a space between them, openid among them, not "${oidcScope}"`,
      ],
    ),
    [
      { dashboardCertificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/0f2c' },
      'dashboardCertificateArn goes with dashboardOrigin, which it is for',
    ],
    [
      {
        dashboardOrigin: 'https://dashboard.example.com',
        dashboardCertificateArn: 'arn:aws:acm:eu-central-1:123456789012:certificate/0f2c',
      },
      'dashboardCertificateArn must be the ARN of a certificate of ACM in us-east-1, not "arn:aws:acm:eu-central-1:123456789012:certificate/0f2c"',
    ],
    [
      { signInDomainPrefix: 'acme', oidcIssuer: 'https://id.example.com', oidcAudience: 'a' },
      "signInDomainPrefix is for the stack's own user pool, not with oidcIssuer",
    ],
    ...['Acme', '-acme', 'acme-', 'my-cognito', 'aws-acme', 'a'.repeat(64)].map(
      (signInDomainPrefix): [Record<string, unknown>, string] => [
        { signInDomainPrefix },
        `signInDomainPrefix must be at most 63 lower-case letters, digits and hyphens, without aws, amazon or cognito, not "${signInDomainPrefix}"`,
      ],
    ),
    [
      { dashboardOrigin: 'https://dashboard.example.com/' },
      'dashboardOrigin must be an https origin such as https://dashboard.example.com, not "https://dashboard.example.com/"',
    ],
    [
      { dashboardOrigin: 'http://dashboard.example.com' },
      'dashboardOrigin must be an https origin such as https://dashboard.example.com, not "http://dashboard.example.com"',
    ],
    [{ domainName: 'api.example.com' }, 'domainName and certificateArn must be given together'],
    [{ certificateArn: CERTIFICATE }, 'domainName and certificateArn must be given together'],
    [
      { domainName: 'https://api.example.com', certificateArn: CERTIFICATE },
      'domainName must be a host name in lower case such as api.example.com, not "https://api.example.com"',
    ],
    [
      { domainName: 'api.example.com', certificateArn: 'arn:aws:iam::123456789012:role/x' },
      'certificateArn must be the ARN of a certificate of ACM, not "arn:aws:iam::123456789012:role/x"',
    ],
    [{ waf: 'yes' }, 'waf must be one of true, false, not "yes"'],
    [{ alarms: 'false' }, 'alarms must not be false in stage prod, where operators must be notified'],
    [{ release: 'now' }, 'release must be one of gradual, at-once, not "now"'],
    [
      { apiRate: 100, apiBurst: 99 },
      'apiBurst must be a whole number of requests at once in stage prod from 100 to 1000000, not "99"',
    ],
    [{ apiRate: 300, apiBurst: 200 }, 'apiBurst must not be less than apiRate'],
    [
      { dispatchersRetry: 1001 },
      'dispatchersRetry must be a whole number of batches at once in stage prod from 10 to 1000, not "1001"',
    ],
    [
      { stage: 'dev', logRetentionDays: 365 },
      'logRetentionDays must be one of 1, 3, 5, 7, 14, 30, 60, 90 in stage dev, not "365"',
    ],
    [
      { runbookUrl: 'http://wiki.example.com' },
      'runbookUrl must be an https URL without a slash at its end, not "http://wiki.example.com"',
    ],
    [
      { runbookUrl: 'https://wiki.example.com/' },
      'runbookUrl must be an https URL without a slash at its end, not "https://wiki.example.com/"',
    ],
    [{ alarmEmail: 'ada' }, 'alarmEmail must be an e-mail address, not "ada"'],
  ])('stops the synthesis with one line: %j', (context, message) => {
    expect(() => read(context)).toThrow(new SettingError(`context ${message}`));
  });
});

describe("the user agent's sender URL", () => {
  it.each([
    [{}, {}],
    [{ dashboardOrigin: 'https://d.example.com' }, { url: 'https://d.example.com/api/docs' }],
    [
      { dashboardOrigin: 'https://d.example.com', domainName: 'a.example.com', certificateArn: CERTIFICATE },
      { url: 'https://a.example.com/api/docs' },
    ],
    [
      { senderUrl: 'https://example.com/bot', senderContact: 'abuse@example.com' },
      { url: 'https://example.com/bot', contact: 'abuse@example.com' },
    ],
  ])('with %j is %j', (context, sender) => {
    expect(read(context).sender).toEqual(sender);
  });

  it.each([
    { senderUrl: 'http://example.com' },
    { senderUrl: 'https://example.com/(x)' },
    { senderContact: 'a(b)@c' },
  ])('is refused where a comment could not contain it: %j', (context) => {
    expect(() => read(context)).toThrow(SettingError);
  });
});

describe('an optional setting', () => {
  it('is off, or has its default', () => {
    const settings = read();
    expect(settings).toMatchObject({ runbooks: 'docs/runbooks' });
    expect(settings).not.toHaveProperty('domain');
    expect(settings).not.toHaveProperty('alarmEmail');
  });

  it('is a web ACL in stage prod, unless it is turned off', () => {
    expect(read({ stage: 'prod' }).waf).toBe(true);
    expect(read({ stage: 'prod', waf: 'false' }).waf).toBe(false);
    expect(read({ stage: 'staging' }).waf).toBe(false);
  });

  it('is used when it is given', () => {
    expect(
      read({
        waf: 'true',
        domainName: 'api.example.com',
        certificateArn: CERTIFICATE,
        runbookUrl: 'https://wiki.example.com/runbooks',
        alarmEmail: 'on-call@example.com',
        release: 'at-once',
      }),
    ).toMatchObject({
      waf: true,
      domain: { name: 'api.example.com', certificateArn: CERTIFICATE },
      runbooks: 'https://wiki.example.com/runbooks',
      alarmEmail: 'on-call@example.com',
      policy: { release: 'linear', rollsBack: false },
    });
  });
});

describe('the reason why a deployment has no mailer', () => {
  const dashboardOrigin = 'https://dashboard.example.com';
  const oidc = { oidcIssuer: 'https://issuer.example.com', oidcAudience: 'dashboard' };

  it.each([
    [{ mailFrom: 'a@example.com', dashboardOrigin }, undefined],
    [{}, expect.stringMatching(/^there is no sender.*-c mailFrom=/)],
    [oidc, expect.stringContaining('a deployment with oidcIssuer does not have')],
  ])('for %j is %s', (context, expected) => {
    expect(reasonWithoutMailer(read(context))).toEqual(expected);
  });
});
