import type { ReactNode } from 'react';
import { type Endpoint, useEndpointStats, useLastFailures } from '../../api/webhooks.ts';
import { useEnvironment } from '../../app/environment.ts';
import { Link } from '../../parts/link.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Facts } from '../../parts/page.tsx';
import { Moment } from '../../parts/time.tsx';
import { errorText } from '../../text/error-text.ts';
import { format, t } from '../../text/language.ts';
import { CauseLink } from '../failure-cause.tsx';
import { countMissed } from './chain.ts';

/** The statistics have no more. */
const HOURS = 168;

/**
 * Why an endpoint was disabled, since when, and what it missed. The number is of the statistics: members may
 * see it, and it costs no job.
 */
export function WhatHappened({
  endpoint,
  failingSince,
  state = 'disabled',
  children,
}: {
  endpoint: Endpoint;
  failingSince: string;
  /** `again`: it took the place of another disabled one; `replaced`: another one took its place. */
  state?: 'disabled' | 'again' | 'replaced';
  children?: ReactNode;
}) {
  const { disabledAt, disabledReason } = endpoint;
  const titles = {
    disabled: t.recover.disabledTitle,
    again: t.recover.disabledAgain,
    replaced: t.recover.oldTitle,
  };
  const { lastError, code, firstAt, isLoading } = useFailure(endpoint);
  const first = [failingSince, firstAt ?? failingSince].toSorted()[0] ?? failingSince;
  return (
    <Notice tone={state === 'replaced' ? 'idle' : 'bad'} title={titles[state]}>
      {state === 'replaced' ? null : <p>{t.recover.disabledAbout}</p>}
      <Facts
        facts={[
          isLoading && [t.common.lastError, t.loading],
          lastError !== undefined && [
            t.common.lastError,
            <LastError key="error" text={lastError} code={code} />,
          ],
          [t.recover.firstFailure, isLoading ? t.loading : <Moment key="first" at={first} />],
          disabledAt !== null && [t.status.auto_disabled, <Moment key="at" at={disabledAt} />],
          [
            t.common.reason,
            disabledReason === null ? t.recover.support : t.endpoints.disabledReason[disabledReason],
          ],
          [t.recover.missed, isLoading ? t.loading : <Missed key="missed" id={endpoint.id} since={first} />],
        ]}
      />
      {children}
    </Notice>
  );
}

/**
 * The last error of an endpoint in the reader's language, and when the first of its last failed deliveries
 * was created.
 */
export function useFailure({
  id,
  disabledAt,
  consecutiveFailures,
  failing,
}: Pick<Endpoint, 'id' | 'disabledAt' | 'consecutiveFailures' | 'failing'>) {
  const { environment } = useEnvironment();
  const isTroubled = disabledAt !== null || failing !== null;
  const { data, isLoading } = useLastFailures(
    environment,
    { id, until: disabledAt, failures: consecutiveFailures },
    isTroubled,
  );
  const failed = data?.slice(0, Math.max(1, consecutiveFailures));
  const last = failed?.[0];
  const isKnown = last !== undefined && last.lastError !== null;
  return {
    lastError: isKnown ? errorText(last) : undefined,
    code: last?.lastErrorCode ?? null,
    firstAt: failed?.at(-1)?.createdAt,
    isLoading,
  };
}

/** The last error with what to do about it. */
export const LastError = ({
  text,
  code,
}: {
  text: string;
  code: Parameters<typeof CauseLink>[0]['code'];
}) => (
  <>
    {text} <CauseLink code={code} />
  </>
);

function Missed({ id, since }: { id: string; since: string }) {
  const { environment } = useEnvironment();
  const { data, error } = useEndpointStats(environment, id, HOURS);
  if (data === undefined) return error ? '–' : t.loading;
  const { count, isWhole } = countMissed(data, since);
  return (
    <span>
      <Link to={`/deliveries/${id}?status=failed`}>{t.recover.missedCount(count, format.number(count))}</Link>{' '}
      {isWhole ? t.recover.missedSince : t.recover.missedWeek}
    </span>
  );
}
