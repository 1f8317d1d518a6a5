import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LANES } from '../../../functions/delivery/lanes.ts';
import { SettingError } from '../../../lib/infra/context.ts';
import { readSettings, SETTING_NAMES, type Settings } from '../../../lib/infra/settings.ts';
import { CLASSES, RETENTION_DAYS } from '../../../lib/infra/stages.ts';

const NONE = { domain: 'none', dashboard: 'none', alarmEmail: 'none', mailFrom: 'none', oidc: 'none' };
const read = (changes: object = {}): Settings =>
  readSettings('mine', { class: 'production', ...NONE, ...changes });
const CLASS_NAMES = ['development', 'staging', 'production'] as const;
const DASHBOARD = { origin: 'https://dashboard.example.com' };
const MAIL = { mailFrom: 'notifications@mail.example.com', dashboard: DASHBOARD };
const OIDC = { issuer: 'https://id.example.com', audience: 'dashboard' };
const CERTIFICATE = 'arn:aws:acm:eu-central-1:123456789012:certificate/0f2c-1';

describe('a stage', () => {
  it.each([
    [
      'development',
      { keepsData: false, alarms: false, logRetentionDays: 7, release: 'at-once', rollsBack: false },
    ],
    ['staging', { keepsData: true, alarms: true, logRetentionDays: 30, release: 'canary', rollsBack: true }],
    [
      'production',
      { keepsData: true, alarms: true, logRetentionDays: 90, release: 'linear', rollsBack: true },
    ],
  ])('of class %s has %j', (name, policy) => {
    expect(read({ class: name }).policy).toMatchObject({ stage: 'mine', ...policy });
  });

  it('has the most of everything in production', () => {
    const [development, staging, production] = CLASS_NAMES.map((name) => read({ class: name }).policy);
    for (const other of [development, staging]) {
      for (const lane of LANES)
        expect(production?.dispatchers[lane]).toBeGreaterThan(other?.dispatchers[lane] ?? Number.NaN);
      expect(production?.throttle.rate).toBeGreaterThan(other?.throttle.rate ?? Number.NaN);
      expect(production?.logRetentionDays).toBeGreaterThan(other?.logRetentionDays ?? Number.NaN);
    }
  });

  it.each(['staging', 'production'])(
    'of class %s says of each part that it might forget whether it has it',
    (name) => {
      for (const part of Object.keys(NONE))
        expect(() => read({ class: name, [part]: undefined })).toThrow(
          RegExp(`^lib/stages/mine.ts: ${part} must be .*, or 'none'$`),
        );
    },
  );

  it('of class development needs its class alone', () => {
    const settings = readSettings('mine', { class: 'development' });
    expect(settings).not.toMatchObject(
      Object.fromEntries(Object.keys(NONE).map((part) => [part, expect.anything()])),
    );
  });
});

describe('reserved concurrency', () => {
  const lane = fc.integer({ min: 10, max: 1000 });

  it('is, for the dispatcher, exactly the sum of its queues', () => {
    fc.assert(
      fc.property(fc.record({ fresh: lane, retry: lane, slow: lane, stalled: lane }), (dispatchers) => {
        const { policy } = read({ dispatchers });
        expect(policy.dispatchers).toEqual(dispatchers);
        const { fresh, retry, slow, stalled } = dispatchers;
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
    const development = { class: 'development' };
    expect(read(development).policy.reserved).toBeUndefined();
    expect(read({ ...development, reserveConcurrency: true }).policy.reserved?.dispatch).toBe(50);
    expect(read({ reserveConcurrency: false }).policy.reserved).toBeUndefined();
  });
});

const CONFIGURATION = readFileSync(
  join(import.meta.dirname, '../../../docs/reference/configuration.md'),
  'utf8',
);

it('the configuration reference lists each setting once', () => {
  const rows = CONFIGURATION.slice(CONFIGURATION.indexOf('\n## Stage settings')).matchAll(/^\| (`.+?`) \|/gm);
  const listed = [...rows].flatMap(([, names = '']) => names.replaceAll('`', '').split(', '));
  expect(listed.toSorted()).toEqual(SETTING_NAMES.toSorted());
});

it('the configuration reference lists each delivery queue with its batches in progress', () => {
  const rows = CONFIGURATION.split('\n');
  for (const lane of LANES) {
    const batches = CLASS_NAMES.map((name) => read({ class: name }).policy.dispatchers[lane]);
    expect(
      rows.find((row) => row.startsWith(`| \`${lane}\` |`)),
      lane,
    ).toMatch(new RegExp(` ${batches.join(' \\| ')} \\|$`));
  }
});

it('a number is used as given, or refused with a line that names it', () => {
  const figures = fc.record(
    {
      dispatchers: fc.record({ fresh: fc.integer({ min: -10, max: 3000 }) }),
      throttle: fc.record(
        { rate: fc.integer({ min: -10, max: 2_000_000 }), burst: fc.integer({ min: -10, max: 2_000_000 }) },
        { requiredKeys: [] },
      ),
      logRetentionDays: fc.oneof(fc.constantFrom(...RETENTION_DAYS), fc.integer({ min: -10, max: 4000 })),
      retryBaseSeconds: fc.double({ min: -10, max: 5000, noNaN: true }),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.constantFrom(...CLASS_NAMES), figures, (name, changes) => {
      let settings: Settings;
      try {
        settings = read({ class: name, ...changes });
      } catch (error) {
        expect(error).toBeInstanceOf(SettingError);
        for (const line of (error as SettingError).message.split('\n')) {
          const [, setting] = /^lib\/stages\/mine\.ts: (\w+)[\w.]* must [^\n]+$/.exec(line) ?? [];
          expect(Object.keys({ retryCapSeconds: 1, ...changes })).toContain(setting);
        }
        return;
      }
      const { policy } = settings;
      for (const [given, got] of [
        [changes.dispatchers?.fresh, policy.dispatchers.fresh],
        [changes.throttle?.rate, policy.throttle.rate],
        [changes.throttle?.burst, policy.throttle.burst],
        [changes.logRetentionDays, policy.logRetentionDays],
        [changes.retryBaseSeconds, settings.retryBaseSeconds],
      ])
        if (given !== undefined) expect(got).toBe(given);
      const { bounds } = CLASSES[name];
      expect(RETENTION_DAYS).toContain(policy.logRetentionDays);
      expect(policy.throttle.burst).toBeGreaterThanOrEqual(policy.throttle.rate);
      for (const [value, [least, most]] of [
        [policy.logRetentionDays, bounds.logRetentionDays],
        [policy.throttle.rate, bounds.throttle],
        [policy.dispatchers.fresh, bounds.dispatchers],
      ] as const) {
        expect(value).toBeGreaterThanOrEqual(least);
        expect(value).toBeLessThanOrEqual(most);
      }
    }),
    { numRuns: 1000 },
  );
});

describe('a wrong, contradictory or unknown setting', () => {
  it.each<[object, string]>([
    [{ class: 'prod' }, "class must be 'development', 'staging' or 'production'"],
    [{ alarmEMail: 'a@example.com' }, 'alarmEMail is no setting'],
    [{ rateLimits: { gold: 1 } }, 'rateLimits.gold is no setting'],
    [{ attemptTimeoutSeconds: 0 }, 'attemptTimeoutSeconds must be a number of seconds from 0.1 to 60, not 0'],
    [{ retryBaseSeconds: 'soon' }, 'retryBaseSeconds must be a number of seconds from 0 to 3600, not "soon"'],
    [
      { retryBaseSeconds: 10, retryCapSeconds: 5 },
      'retryCapSeconds must not be less than retryBaseSeconds, not 5',
    ],
    [{ graceSeconds: 5 }, 'graceSeconds must be a number of seconds from 30 to 21600, not 5'],
    [
      { redeliveryGroup: 17 },
      'redeliveryGroup must be a whole number of deliveries of a redelivery job at a time from 1 to 16, not 17',
    ],
    [{ lowCost: true }, 'lowCost must be false in class production, which bounds its concurrency, not true'],
    [{ keyArn: 'alias/mine' }, 'keyArn must be the ARN of a key of KMS, not "alias/mine"'],
    [
      { class: 'development', encryptEnvironment: true },
      'encryptEnvironment must go with keyArn, or without lowCost, not true',
    ],
    [
      { class: 'development', alarmEmail: 'a@example.com' },
      'alarmEmail must be \'none\' in a stage without alarms, not "a@example.com"',
    ],
    [{ lingerSeconds: 3601 }, 'lingerSeconds must be a number of seconds from 0 to 3600, not 3601'],
    ...['ada', 'Ada <ada@example.com>', 'a@b@example.com'].map((mailFrom): [object, string] => [
      { ...MAIL, mailFrom },
      `mailFrom must be an e-mail address, not "${mailFrom}"`,
    ]),
    [{ waf: false, wafLogs: true }, 'wafLogs must go with waf, the web ACL that they are of, not true'],
    [
      { ...MAIL, dashboard: 'none' },
      'mailFrom must go with a dashboard, which e-mails link to, not "notifications@mail.example.com"',
    ],
    [
      { ...MAIL, oidc: OIDC },
      "mailFrom must be 'none' with oidc: e-mails are for admins in the stage's own user pool, not \"notifications@mail.example.com\"",
    ],
    [
      { mailLimits: { organization: 0 } },
      'mailLimits.organization must be a whole number of recipients a day from 1 to 1000000000, not 0',
    ],
    [
      { mailLimits: { stage: 0.5 } },
      'mailLimits.stage must be a whole number of recipients a day from 1 to 1000000000, not 0.5',
    ],
    [{ noticeSeconds: 0 }, 'noticeSeconds must be a number of seconds from 1 to 2592000, not 0'],
    ...[1, 11].map((checksPerOrganization): [object, string] => [
      { checksPerOrganization },
      `checksPerOrganization must be a whole number of checks from 2 to 10, not ${checksPerOrganization}`,
    ]),
    [
      { watchWindowSeconds: 1.5 },
      'watchWindowSeconds must be a whole number of seconds from 0 to 300, not 1.5',
    ],
    [
      { rateLimits: { standard: 0 } },
      'rateLimits.standard must be a whole number of requests a minute from 1 to 1000000000, not 0',
    ],
    [
      { rateLimits: { sandbox: 601 } },
      'rateLimits must be lowest for sandbox, not {"sandbox":601,"standard":600,"scale":6000}',
    ],
    [{ oidc: { issuer: OIDC.issuer } }, "oidc must be an object with issuer and audience, or 'none'"],
    [
      { oidc: { ...OIDC, issuer: 'http://id.example.com' } },
      'oidc.issuer must be an https URL, not "http://id.example.com"',
    ],
    ...['email', 'openid  email', 'openidx', ' openid', 'openid "x"'].map((scope): [object, string] => [
      { oidc: { ...OIDC, scope } },
      `oidc.scope must be scopes with a space between them, openid among them, not ${JSON.stringify(scope)}`,
    ]),
    [
      { dashboard: { ...DASHBOARD, certificateArn: CERTIFICATE } },
      `dashboard.certificateArn must be the ARN of a certificate of ACM in us-east-1, not "${CERTIFICATE}"`,
    ],
    [
      { signInDomainPrefix: 'acme', oidc: OIDC },
      'signInDomainPrefix must be absent with oidc: it is for the stage\'s own user pool, not "acme"',
    ],
    ...['Acme', '-acme', 'acme-', 'my-cognito', 'aws-acme', 'a'.repeat(64)].map(
      (prefix): [object, string] => [
        { signInDomainPrefix: prefix },
        `signInDomainPrefix must be at most 63 lower-case letters, digits and hyphens, without aws, amazon or cognito, not "${prefix}"`,
      ],
    ),
    ...['https://dashboard.example.com/', 'http://dashboard.example.com'].map((origin): [object, string] => [
      { dashboard: { origin } },
      `dashboard.origin must be an https origin such as https://dashboard.example.com, not "${origin}"`,
    ]),
    [
      { domain: { name: 'https://api.example.com', certificateArn: CERTIFICATE } },
      'domain.name must be a host name in lower case such as api.example.com, not "https://api.example.com"',
    ],
    [
      { domain: { name: 'api.example.com', certificateArn: 'arn:aws:iam::123456789012:role/x' } },
      'domain.certificateArn must be the ARN of a certificate of ACM, not "arn:aws:iam::123456789012:role/x"',
    ],
    [{ waf: 'yes' }, 'waf must be true or false, not "yes"'],
    [{ alarms: false }, 'alarms must be true in production, where operators must be notified, not false'],
    [{ release: 'now' }, "release must be 'gradual' or 'at-once', not \"now\""],
    [
      { throttle: { rate: 100, burst: 99 } },
      'throttle.burst must be a whole number of requests at once from 100 to 1000000, not 99',
    ],
    [
      { throttle: { rate: 300, burst: 200 } },
      'throttle must have a burst of at least its rate, not {"rate":300,"burst":200}',
    ],
    [
      { dispatchers: { retry: 1001 } },
      'dispatchers.retry must be a whole number of batches at once from 10 to 1000, not 1001',
    ],
    [
      { class: 'development', logRetentionDays: 365 },
      'logRetentionDays must be one of 1, 3, 5, 7, 14, 30, 60, 90 in class development, not 365',
    ],
    ...['http://wiki.example.com', 'https://wiki.example.com/'].map((runbookUrl): [object, string] => [
      { runbookUrl },
      `runbookUrl must be an https URL without a slash at its end, not "${runbookUrl}"`,
    ]),
    [
      { env: { account: '1', region: 'eu-central-1' } },
      'env.account must be the 12 digits of an account, not "1"',
    ],
    [
      { env: { account: '123456789012', region: 'eu' } },
      'env.region must be a region such as eu-central-1, not "eu"',
    ],
    [
      { sender: { url: 'http://example.com' } },
      'sender.url must be an https URL without parentheses, backslashes or spaces, not "http://example.com"',
    ],
    [
      { sender: { url: 'https://example.com/(x)' } },
      'sender.url must be an https URL without parentheses, backslashes or spaces, not "https://example.com/(x)"',
    ],
    [{ sender: { contact: 'a(b)@c' } }, 'sender.contact must be an e-mail address, not "a(b)@c"'],
  ])('stops the synthesis with one line: %j', (changes, message) => {
    expect(() => read(changes)).toThrow(new SettingError(`lib/stages/mine.ts: ${message}`));
  });
});

describe("the user agent's sender URL", () => {
  it.each([
    [{}, {}],
    [{ dashboard: { origin: 'https://d.example.com' } }, { url: 'https://d.example.com/api/docs' }],
    [
      { dashboard: DASHBOARD, domain: { name: 'a.example.com', certificateArn: CERTIFICATE } },
      { url: 'https://a.example.com/api/docs' },
    ],
    [
      { sender: { url: 'https://example.com/bot', contact: 'abuse@example.com' } },
      { url: 'https://example.com/bot', contact: 'abuse@example.com' },
    ],
  ])('with %j is %j', (changes, sender) => {
    expect(read(changes).sender).toEqual(sender);
  });
});

describe('an optional setting', () => {
  it('is off, or has its default', () => {
    expect(read()).toMatchObject({ runbookUrl: 'docs/runbooks', domain: undefined, alarmEmail: undefined });
    expect(read({ throttle: { rate: 4500 } }).policy.throttle).toEqual({ rate: 4500, burst: 4500 });
    const rateLimits = { sandbox: 1, standard: 2, scale: 3 };
    expect(read({ rateLimits, visitorLimits: { scale: 9 } }).visitorLimits).toEqual({
      ...rateLimits,
      scale: 9,
    });
  });

  it('is a web ACL in production, unless it is turned off', () => {
    expect(read().waf).toBe(true);
    expect(read({ waf: false }).waf).toBe(false);
    expect(read({ class: 'staging' }).waf).toBe(false);
  });

  it('is used when it is given', () => {
    const given = {
      waf: true,
      domain: { name: 'api.example.com', certificateArn: CERTIFICATE },
      runbookUrl: 'https://wiki.example.com/runbooks',
      alarmEmail: 'on-call@example.com',
    };
    expect(read({ ...given, release: 'at-once' })).toMatchObject({
      ...given,
      policy: { release: 'linear', rollsBack: false },
    });
  });
});
