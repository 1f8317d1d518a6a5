/** As in production; without a sender of e-mail there is no mailer. */
export const PROD = {
  stage: 'prod',
  mailFrom: 'notifications@mail.example.com',
  dashboardOrigin: 'https://dashboard.example.com',
};

/** What a deployment may have besides. */
export const EVERYTHING = {
  waf: true,
  domainName: 'api.example.com',
  certificateArn: 'arn:aws:acm:eu-central-1:123456789012:certificate/0f2c',
  alarmEmail: 'on-call@example.com',
};

/**
 * Settings with other values than their defaults, none of which changes what another does: one synthesis
 * shows where each goes.
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

/** Users of the dashboard sign in at an issuer of their own, of whom the service knows no addresses. */
export const OTHER_ISSUER = {
  oidcIssuer: 'https://id.example.com',
  oidcAudience: 'dashboard',
  oidcScope: 'openid email offline_access',
  mailFrom: '',
};
