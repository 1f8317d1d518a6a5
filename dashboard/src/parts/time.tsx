import { useId } from 'react';
import { useNow } from '../app/now.ts';
import { format, t } from '../text/language.ts';
import { CopyId } from './copy.tsx';
import styles from './time.module.css';

const JUST_NOW_MS = 5_000;

const agoOf = (at: string, now: number): string =>
  Math.abs(Date.parse(at) - now) < JUST_NOW_MS ? t.common.justNow : format.relative(at, now);

/** A time that opens, by pointer and key, as it is here and in UTC, to be copied as logs have it. */
function Opening({ at, text }: { at: string; text: string }) {
  const id = useId();
  return (
    <>
      <button type="button" className={styles.time} popoverTarget={id}>
        <time dateTime={at}>{text}</time>
      </button>
      <span id={id} popover="auto" className={styles.opened}>
        {format.moment(at)}
        <CopyId id={at} what={at} />
      </span>
    </>
  );
}

export const Ago = ({ at }: { at: string }) => <Opening at={at} text={agoOf(at, useNow())} />;

/** A relative time in what is pressed as a whole, such as a row that is a link. */
export const PlainAgo = ({ at }: { at: string }) => (
  <time dateTime={at} title={`${format.moment(at)}\n${at}`}>
    {agoOf(at, useNow())}
  </time>
);

/** A moment, to the second. */
export const Moment = ({ at }: { at: string }) => <Opening at={at} text={format.moment(at)} />;
