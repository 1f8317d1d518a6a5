import type { Schema } from '../../api/client.ts';
import { isOver } from '../../api/pace.ts';
import type { DeliveryWithAttempts } from '../../api/webhooks.ts';
import { Code, indented } from '../../parts/code.tsx';
import { Facts } from '../../parts/page.tsx';
import { Status } from '../../parts/status.tsx';
import { Moment } from '../../parts/time.tsx';
import { errorText } from '../../text/error-text.ts';
import { format, t } from '../../text/language.ts';
import styles from './deliveries.module.css';

type Attempt = Schema<'Attempt'>;

/**
 * Each attempt, the last one first: what was sent, what came back, and when.
 * @param hasRequests whether attempts of a sandbox have the request that was sent
 */
export function Attempts({
  delivery,
  hasRequests = true,
}: {
  delivery: Pick<DeliveryWithAttempts, 'attemptLog' | 'status'>;
  hasRequests?: boolean;
}) {
  const { attemptLog } = delivery;
  if (attemptLog.length === 0)
    return (
      <p className="quiet">{isOver(delivery) ? t.deliveries.neverAttempted : t.deliveries.noAttempts}</p>
    );
  return (
    <>
      <Timeline attempts={attemptLog} />
      <ol className={styles.attempts} reversed>
        {attemptLog.toReversed().map((attempt, index) => (
          <li key={attempt.number} className={styles.attempt}>
            <OneAttempt attempt={attempt} isOpen={index === 0} />
          </li>
        ))}
      </ol>
      {!hasRequests || attemptLog.some(({ request }) => request !== null) ? null : (
        <p className="quiet">{t.deliveries.requestNotKept}</p>
      )}
    </>
  );
}

function OneAttempt({ attempt, isOpen }: { attempt: Attempt; isOpen: boolean }) {
  const { error, errorCode, status, response, request } = attempt;
  return (
    <>
      <div className="row">
        <h4 className="visually-hidden">{t.deliveries.attempt(attempt.number)}</h4>
        <strong aria-hidden="true">{t.deliveries.attempt(attempt.number)}</strong>
        <Status tone={error === null ? 'good' : 'bad'}>
          {status === null ? t.status.exhausted : t.deliveries.answered(status)}
        </Status>
        <span className="quiet">
          <Moment at={attempt.startedAt} /> · {format.duration(attempt.durationMs)}
        </span>
      </div>
      {/* Of an answer it says no more than its status. */}
      {error === null || status !== null ? null : (
        <p className={styles.error}>
          {errorText({ lastError: error, lastErrorCode: errorCode, lastResponseStatus: status })}
        </p>
      )}
      {response === null && request === null ? null : (
        <details open={isOpen}>
          <summary>{t.deliveries.details}</summary>
          <div className="stack">
            {request === null ? null : <SentRequest request={request} />}
            {response === null ? null : <Code text={response} label={t.deliveries.response} isWrapped />}
          </div>
        </details>
      )}
    </>
  );
}

const SentRequest = ({ request }: { request: Schema<'WebhookRequest'> }) => (
  <>
    <p>
      <code>
        {request.method} {request.url}
      </code>
    </p>
    <div className={styles.headers}>
      <Facts
        facts={Object.entries(request.headers).map(
          ([name, value]) => [name, <code key={name}>{value}</code>] as const,
        )}
      />
    </div>
    <Code text={indented(request.body)} label={t.deliveries.body} isWrapped />
  </>
);

/** When the attempts were, along the time from the first one's beginning to the last one's end. */
function Timeline({ attempts }: { attempts: readonly Attempt[] }) {
  const starts = attempts.map(({ startedAt }) => Date.parse(startedAt));
  const begin = Math.min(...starts);
  const end = Math.max(...attempts.map(({ durationMs }, index) => (starts[index] ?? 0) + durationMs));
  const span = Math.max(1, end - begin);
  return (
    <div
      className={styles.track}
      role="img"
      aria-label={`${t.deliveries.timeline}: ${format.duration(span)}`}
    >
      {attempts.map(({ number, durationMs, error }, index) => (
        <span
          key={number}
          className={styles.mark}
          data-good={error === null}
          style={{
            left: `${(((starts[index] ?? begin) - begin) / span) * 97}%`,
            width: `${Math.max(0, (durationMs / span) * 97)}%`,
          }}
        />
      ))}
    </div>
  );
}
