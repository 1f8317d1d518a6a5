import { useEffect, useState } from 'react';
import { type Source, useSync } from '../../api/sources.ts';
import { useEnvironment } from '../../app/environment.ts';
import { Button } from '../../parts/button.tsx';
import { Failure } from '../../parts/notice.tsx';
import { t } from '../../text/language.ts';

/** State of the requested check. */
export type Checking = 'not asked' | 'in progress' | 'done';

/** @param before the source as it was when the check was asked for @param now as it is */
export function checkingOf(
  before: Pick<Source, 'lastCheckedAt'> | undefined,
  now: Pick<Source, 'lastCheckedAt'> | undefined,
): Checking {
  if (before === undefined) return 'not asked';
  return now !== undefined && now.lastCheckedAt !== before.lastCheckedAt ? 'done' : 'in progress';
}

/** A check usually takes a second, and a minute at most. */
const SLOW_MS = 20_000;

/**
 * Requests a check and shows that it is running.
 * @param onCheck gets the source as it was before
 */
export function CheckNow({
  id,
  checking,
  onCheck,
}: {
  id: string;
  checking: Checking;
  onCheck: (before: Source) => void;
}) {
  const { environment } = useEnvironment();
  const { mutate, isPending, error } = useSync(environment, id);
  const isInProgress = isPending || checking === 'in progress';
  const isSlow = useLongerThan(SLOW_MS, checking === 'in progress');
  return (
    <>
      <Button isPending={isInProgress} onPress={() => mutate(undefined, { onSuccess: onCheck })}>
        {isInProgress ? t.sources.syncing : t.sources.sync}
      </Button>
      {isSlow ? (
        <span role="status" className="quiet">
          {t.sources.syncSlow}
        </span>
      ) : null}
      <Failure error={error} />
    </>
  );
}

/** Whether something has been so for longer than that. */
function useLongerThan(ms: number, isSo: boolean): boolean {
  const [isLonger, setLonger] = useState(false);
  useEffect(() => {
    if (!isSo) return;
    const timer = setTimeout(() => setLonger(true), ms);
    return () => {
      clearTimeout(timer);
      setLonger(false);
    };
  }, [ms, isSo]);
  return isLonger;
}
