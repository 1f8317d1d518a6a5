import type { Endpoint } from '../api/webhooks.ts';
import { Status } from '../parts/status.tsx';
import { t } from '../text/language.ts';

/** How an endpoint stands, failing ones apart from those that are well. */
export function EndpointStatus({
  endpoint,
}: {
  endpoint: { status: Endpoint['status']; failing: object | null };
}) {
  if (endpoint.status === 'auto_disabled') return <Status tone="bad">{t.status.auto_disabled}</Status>;
  if (endpoint.status === 'paused') return <Status tone="idle">{t.status.paused}</Status>;
  if (endpoint.failing !== null) return <Status tone="warn">{t.status.failing}</Status>;
  return <Status tone="good">{t.status.active}</Status>;
}
