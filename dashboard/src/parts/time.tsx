import { useNow } from '../app/now.ts';
import { useFormat } from '../text/format.ts';
import { CopyButton } from './copy.tsx';

/** A relative time, with date and time, here and in UTC, on hover. */
export function Ago({ at }: { at: string }) {
  const format = useFormat();
  const now = useNow();
  return (
    <time dateTime={at} title={`${format.moment(at)}\n${at}`}>
      {format.relative(at, now)}
    </time>
  );
}

/** A moment, to the second, with UTC on hover. */
export function Moment({ at }: { at: string }) {
  const format = useFormat();
  return (
    <time dateTime={at} title={at}>
      {format.moment(at)}
    </time>
  );
}

/** A moment that can be copied as logs have it: ISO 8601, UTC. */
export function CopyMoment({ at, what }: { at: string; what: string }) {
  return (
    <>
      <Moment at={at} /> <CopyButton text={at} what={what} />
    </>
  );
}
