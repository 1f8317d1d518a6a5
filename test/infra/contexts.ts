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
