import type { CloudOptions } from 'aws-local/cloud.ts';

/** The service's requirements beyond its template. */
export const LOCAL_SERVICE = {
  // Allows receivers at loopback addresses; functions refuse the variable in Lambda.
  environment: { LOOPBACK_RECEIVERS: 'allow' },
  redirects: { '/docs': '/api/docs' },
} satisfies Partial<CloudOptions>;
