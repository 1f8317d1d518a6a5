import { useNow } from '../app/now.ts';
import { format } from '../text/language.ts';
import { CopyButton } from './copy.tsx';

/** A relative time, with date and time, here and in UTC, on hover. */
export function Ago({ at }: { at: string }) {
  const now = useNow();
  return (
    <time dateTime={at} title={`${format.moment(at)}\n${at}`}>
      {format.relative(at, now)}
    </time>
  );
}

/** A moment, to the second, with UTC on hover. */
export const Moment = ({ at }: { at: string }) => (
  <time dateTime={at} title={at}>
    {format.moment(at)}
  </time>
);

/** A moment that can be copied as logs have it: ISO 8601, UTC. */
export const CopyMoment = ({ at, what }: { at: string; what: string }) => (
  <>
    <Moment at={at} /> <CopyButton text={at} what={what} />
  </>
);
