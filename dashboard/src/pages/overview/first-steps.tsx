import { Circle, CircleCheck } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { Schema } from '../../api/client.ts';
import { useProgress } from '../../api/first-steps.ts';
import { useIsAdmin, usePerson } from '../../app/person.ts';
import { Button, buttonLook } from '../../parts/button.tsx';
import { Check } from '../../parts/check.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Link } from '../../parts/link.tsx';
import { Card } from '../../parts/page.tsx';
import { t } from '../../text/language.ts';
import styles from './first-steps.module.css';
import { countDone, type Done, isShown, type Kept, keptIn, STEPS, type Step } from './steps.ts';

/**
 * What a new organization does first, ticked as it is done.
 * @returns undefined where it is not shown. `isPast`: real events arrive, so that it is in no one's way
 */
export function useFirstSteps(
  endpoints: Schema<'DeliveryStats'>['endpoints'] | undefined,
): { card: ReactNode; isPast: boolean } | undefined {
  const webhookIds = endpoints?.map(({ webhookId }) => webhookId);
  const isAdmin = useIsAdmin();
  const [kept, keep] = useKept();
  const { data } = useProgress(webhookIds ?? [], webhookIds !== undefined && !kept.isHidden);
  // Without a word of the user they are shown, so their place does not wait for what else is done.
  const isCertain = isAdmin && !kept.isVerified;
  if (webhookIds === undefined || (data === undefined && !isCertain)) return undefined;
  const done = {
    test: data?.test,
    live: data?.live,
    endpoint: webhookIds.length > 0,
    verify: kept.isVerified,
  };
  if (!isShown(done, kept, isAdmin)) return undefined;
  const isPast = done.live !== false && endpoints?.some(({ totals }) => totals.succeeded > 0) === true;
  return {
    isPast,
    card: (
      <FirstSteps
        done={done}
        isPast={isPast}
        webhookId={webhookIds[0]}
        keep={(changed) => keep({ ...kept, ...changed })}
      />
    ),
  };
}

function FirstSteps({
  done,
  isPast,
  webhookId,
  keep,
}: {
  done: Done;
  isPast: boolean;
  webhookId: string | undefined;
  keep: (changed: Partial<Kept>) => void;
}) {
  const isAdmin = useIsAdmin();
  const next = STEPS.find((step) => done[step] === false);
  return (
    <Card
      title={t.firstSteps.title}
      actions={
        <div className="row">
          <span className="quiet">{t.firstSteps.progress(countDone(done), STEPS.length)}</span>
          <Button look="plain" onPress={() => keep({ isHidden: true })}>
            {t.firstSteps.dismiss}
          </Button>
        </div>
      }
    >
      {isAdmin ? null : <p>{t.firstSteps.membersAbout}</p>}
      <Folded isFolded={isPast}>
        <ol className={styles.steps}>
          {STEPS.map((step) => (
            <li key={step} className={styles.step} data-done={done[step] === true}>
              <Icon of={done[step] ? CircleCheck : Circle} />
              <div className={styles.text}>
                <h3>
                  {t.firstSteps[step].title}
                  <span className="visually-hidden">
                    : {done[step] === false ? t.firstSteps.open : done[step] ? t.firstSteps.done : t.loading}
                  </span>
                </h3>
                {done[step] !== false ? null : <p className="quiet">{t.firstSteps[step].about}</p>}
                {step === 'verify' && isAdmin && !done.verify ? (
                  <Check isSelected={false} onChange={() => keep({ isVerified: true })}>
                    {t.firstSteps.verify.confirm}
                  </Check>
                ) : null}
              </div>
              {isAdmin && done[step] === false ? (
                <Link
                  to={pathOf(step, webhookId)}
                  className={buttonLook(step === next ? 'primary' : 'ordinary')}
                >
                  {t.firstSteps[step].action}
                </Link>
              ) : null}
            </li>
          ))}
        </ol>
      </Folded>
    </Card>
  );
}

function Folded({ isFolded, children }: { isFolded: boolean; children: ReactNode }) {
  if (!isFolded) return children;
  return (
    <details>
      <summary>{t.firstSteps.left}</summary>
      {children}
    </details>
  );
}

/** Where a step is done, with the newest endpoint if there is one. */
function pathOf(step: Step, webhookId: string | undefined): string {
  if (step === 'live') return '/api-keys';
  return step === 'endpoint' || webhookId === undefined ? '/endpoints?add' : `/endpoints/${webhookId}`;
}

/** What this browser keeps for the organization. */
function useKept(): [Kept, (kept: Kept) => void] {
  const name = `first-steps/${usePerson().organizationId}`;
  const [kept, setKept] = useState(() => keptIn(stored(name)));
  return [
    kept,
    (changed) => {
      setKept(changed);
      try {
        localStorage.setItem(name, JSON.stringify(changed));
      } catch {
        // Storage is refused: it lasts as long as this page.
      }
    },
  ];
}

function stored(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}
