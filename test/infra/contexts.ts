/** As in production, where a mailer needs a sender. */
export const PROD = {
  stage: 'prod',
  mailFrom: 'notifications@mail.example.com',
  dashboardOrigin: 'https://dashboard.example.com',
};

/** Without optional parts. */
export const BARE = { mailFrom: '', dashboardOrigin: '' };

/** Optional parts of a deployment, and those that a stage of low cost lacks. */
export const EVERYTHING = {
  alarms: true,
  lowCost: false,
  waf: true,
  domainName: 'api.example.com',
  certificateArn: 'arn:aws:acm:eu-central-1:123456789012:certificate/0f2c',
  alarmEmail: 'on-call@example.com',
};

/**
 * Settings with other values than their defaults, none of which affects another: one synthesis shows where
 * each is used.
 */
export const SETTINGS = {
  checkEverySeconds: 60,
  checksPerOrganization: 2,
  dashboardCertificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/0f2c',
  graceSeconds: 1800,
  lingerSeconds: 300,
  mailBudget: 7,
  mailCeiling: 8,
  noticeSeconds: 61,
  rateLimitSandbox: 5,
  rateLimitScale: '500',
  rateLimitStandard: 50,
  runbookUrl: 'https://wiki.example.com/runbooks',
  signInDomainPrefix: 'acme-talks',
  syncCooldownSeconds: 6,
  visitorLimitSandbox: 9,
  visitorLimitScale: 90,
};

/** As few requests as possible, in a stage that has a firewall only on request. */
export const FEWEST_REQUESTS = { stage: 'dev', apiRate: 1, apiBurst: 1, waf: true };

/** Limits of requests in production without a firewall. */
export const WITHOUT_WAF = { apiRate: 100, apiBurst: 100, waf: false };

/** A short deadline of an attempt, and the lowest rate limits. */
export const LOWEST_LIMITS = {
  attemptTimeoutSeconds: 0.5,
  rateLimitSandbox: 1,
  rateLimitStandard: 1,
  rateLimitScale: 1,
};

/** The longest deadline of an attempt, and rate limits above those that WAF supports. */
export const HIGHEST_LIMITS = {
  attemptTimeoutSeconds: 60,
  rateLimitSandbox: 1,
  rateLimitStandard: 1_000_000_000,
  rateLimitScale: 1_000_000_000,
};

/** Users of the dashboard sign in at another issuer, so the service knows no e-mail addresses. */
export const OTHER_ISSUER = {
  oidcIssuer: 'https://id.example.com',
  oidcAudience: 'dashboard',
  oidcScope: 'openid email offline_access',
  mailFrom: '',
};
