import { format, t } from '../text/language.ts';

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
