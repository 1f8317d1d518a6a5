import type { ReactNode } from 'react';
import { type Endpoint, useEndpoints } from '../api/webhooks.ts';
import { useEnvironment } from '../app/environment.ts';
import { masked } from '../parts/masked.ts';
import { Notice } from '../parts/notice.tsx';
import { Status } from '../parts/status.tsx';
import { Url } from '../parts/url.tsx';
import { format, t } from '../text/language.ts';

/** An endpoint by its description; by its URL without one, and while it is not known. */
export function EndpointName({ id, url }: { id: string; url: string }) {
  const description = useDescription(id);
  return description === undefined ? <Url url={url} /> : <bdi title={masked(url)}>{description}</bdi>;
}

/** The URL below a name that does not say it. */
export function EndpointUrl({ id, url }: { id: string; url: string }) {
  if (useDescription(id) === undefined) return null;
  return (
    <span className="quiet below">
      <Url url={url} />
    </span>
  );
}

function useDescription(id: string): string | undefined {
  const { environment } = useEnvironment();
  const { data } = useEndpoints(environment, false);
  return data?.find((endpoint) => endpoint.id === id)?.description ?? undefined;
}

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

/** How many deliveries failed in a row, of those that disable an endpoint; nothing while none fails. */
export function FailuresInARow({
  endpoint: { failing, consecutiveFailures },
}: {
  endpoint: { failing: { failuresUntilDisabled: number } | null; consecutiveFailures: number };
}) {
  if (failing === null) return null;
  const most = consecutiveFailures + failing.failuresUntilDisabled;
  return <>{t.recover.inARow(format.number(consecutiveFailures), format.number(most))}</>;
}

/** That an endpoint or channel fails, and how far it is from being disabled; nothing while it does not. */
export const FailingNotice = ({
  endpoint,
  lastError,
  children,
}: {
  endpoint: Parameters<typeof FailuresInARow>[0]['endpoint'];
  lastError?: string | undefined;
  children?: ReactNode;
}) =>
  endpoint.failing === null ? null : (
    <Notice tone="warn" title={t.recover.failingTitle}>
      <p>
        <FailuresInARow endpoint={endpoint} />
        {lastError === undefined ? '' : `: ${lastError}`}
      </p>
      {children}
    </Notice>
  );
