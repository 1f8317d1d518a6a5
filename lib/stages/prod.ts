import type { StageFile } from '../infra/settings.ts';

/** Production. */
export default {
  class: 'production',
  domain: 'none',
  dashboard: 'none',
  alarmEmail: 'none',
  mailFrom: 'none',
  oidc: 'none',
} satisfies StageFile;
