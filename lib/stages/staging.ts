import type { StageFile } from '../infra/settings.ts';

/** Production's settings at a tenth of its size. */
export default {
  class: 'staging',
  domain: 'none',
  dashboard: 'none',
  alarmEmail: 'none',
  mailFrom: 'none',
  oidc: 'none',
} satisfies StageFile;
