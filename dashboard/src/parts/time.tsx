import { useNow } from '../app/now.ts';
import { useFormat } from '../text/format.ts';

/** A relative time, with date and time on hover. */
export function Ago({ at }: { at: string }) {
  const format = useFormat();
  const now = useNow();
  return (
    <time dateTime={at} title={format.moment(at)}>
      {format.relative(at, now)}
    </time>
  );
}

/** A moment, to the second. */
export function Moment({ at }: { at: string }) {
  const format = useFormat();
  return <time dateTime={at}>{format.moment(at)}</time>;
}
