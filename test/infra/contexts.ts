import type { StageFile } from '../../lib/infra/settings.ts';
import type { StackContext } from '../../lib/local-run/start/synthesis.ts';

const CLASSES = { dev: 'development', staging: 'staging', prod: 'production' } as const;
type TestStage = keyof typeof CLASSES;
/** A stage of each class. */
export const STAGES = Object.keys(CLASSES) as TestStage[];

/** A stage's name and settings: by default production's, with a mailer. */
export type TestContext = { stage?: TestStage } & Partial<Omit<StageFile, 'class'>>;

/** Without optional parts. */
export const BARE = {
  domain: 'none',
  dashboard: 'none',
  alarmEmail: 'none',
  mailFrom: 'none',
  oidc: 'none',
} as const;

/** A stage as the app gets it. */
export const contextOf = ({ stage = 'prod', ...settings }: TestContext = {}): StackContext => ({
  stage,
  settings: {
    class: CLASSES[stage],
    ...BARE,
    mailFrom: 'notifications@mail.example.com',
    dashboard: { origin: 'https://dashboard.example.com' },
    ...settings,
  },
});

/** An account and region, which the templates then contain. */
export const ENV = { account: '123456789012', region: 'eu-central-1' };

/** Optional parts of a deployment, and those that a stage of low cost lacks. */
export const EVERYTHING = {
  alarms: true,
  lowCost: false,
  waf: true,
  wafLogs: true,
  fixedEgress: true,
  domain: {
    name: 'api.example.com',
    certificateArn: 'arn:aws:acm:eu-central-1:123456789012:certificate/0f2c',
  },
  alarmEmail: 'on-call@example.com',
  dashboard: {
    origin: 'https://dashboard.example.com',
    certificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/0f2c',
  },
};

/**
 * Settings with other values than their defaults, none of which affects another: one synthesis shows where
 * each is used.
 */
export const SETTINGS = {
  checkEverySeconds: 60,
  checksPerOrganization: 2,
  graceSeconds: 1800,
  lingerSeconds: 300,
  mailLimits: { organization: 7, stage: 8 },
  noticeSeconds: 61,
  rateLimits: { sandbox: 5, standard: 50, scale: 500 },
  runbookUrl: 'https://wiki.example.com/runbooks',
  signInDomainPrefix: 'acme-talks',
  syncCooldownSeconds: 6,
  visitorLimits: { sandbox: 9, scale: 90 },
};

/** As few requests as possible, in a stage that has a firewall only on request, and no e-mail. */
export const FEWEST_REQUESTS = {
  stage: 'dev',
  throttle: { rate: 1, burst: 1 },
  waf: true,
  mailFrom: 'none',
} as const;

/** A key of one's own, low limits of requests without a firewall, and a release at once. */
export const OWN_KEY = {
  keyArn: 'arn:aws:kms:eu-central-1:123456789012:key/0f2c',
  encryptEnvironment: true,
  throttle: { rate: 100, burst: 100 },
  waf: false,
  release: 'at-once',
} as const;

/** A short deadline of an attempt, and the lowest rate limits. */
export const LOWEST_LIMITS = {
  attemptTimeoutSeconds: 0.5,
  rateLimits: { sandbox: 1, standard: 1, scale: 1 },
};

/** The longest deadline of an attempt, and rate limits above those that WAF supports. */
export const HIGHEST_LIMITS = {
  attemptTimeoutSeconds: 60,
  rateLimits: { sandbox: 1, standard: 1_000_000_000, scale: 1_000_000_000 },
};

/** Users of the dashboard sign in at another issuer, so the service knows no e-mail addresses. */
export const OTHER_ISSUER = {
  oidc: {
    issuer: 'https://id.example.com',
    audience: 'dashboard',
    scope: 'openid email offline_access',
  },
  mailFrom: 'none',
};
