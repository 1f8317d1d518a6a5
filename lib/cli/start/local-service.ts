import type { CloudOptions } from 'aws-local/cloud.ts';

/** What the service needs of the machine that it runs on, besides its template. */
export const LOCAL_SERVICE = {
  // Receivers at loopback addresses; functions refuse the variable in Lambda.
  environment: { LOOPBACK_RECEIVERS: 'allow' },
  redirects: { '/docs': '/api/docs' },
} satisfies Partial<CloudOptions>;
