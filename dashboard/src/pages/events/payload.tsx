import { useEffect, useRef, useState } from 'react';
import type { EventDetail } from '../../api/events.ts';
import { useEnvironment } from '../../app/environment.ts';
import { Button } from '../../parts/button.tsx';
import { indented } from '../../parts/code.tsx';
import { CopyButton } from '../../parts/copy.tsx';
import { TextField } from '../../parts/field.tsx';
import { t } from '../../text/language.ts';
import styles from './events.module.css';
import { MAX_MATCHES, segmentsOf } from './matches.ts';
import { curlOf, signedOf } from './replay.ts';

/** The payload as every receiver got it, to be searched, copied and sent to a receiver of one's own. */
export function Payload({ event }: { event: EventDetail }) {
  const { environment } = useEnvironment();
  return (
    <>
      <div className="row">
        <CopyButton text={event.payload} what={t.eventLog.payload} />
        <CopyButton text={curlOf(event)} what={t.eventLog.curl} label={t.eventLog.copyCurl} />
        <CopyButton text={signedOf(event)} what={t.eventLog.signed} label={t.eventLog.copySigned} />
      </div>
      <Searched text={indented(event.payload)} />
      <p className="quiet">
        {t.eventLog.signedAbout}{' '}
        {environment === 'sandbox' ? (
          <>
            {t.eventLog.forward} <code>conversations listen</code>.
          </>
        ) : null}
      </p>
    </>
  );
}

function Searched({ text }: { text: string }) {
  const [wanted, setWanted] = useState('');
  const [current, setCurrent] = useState(0);
  const shown = useRef<HTMLPreElement>(null);
  const segments = segmentsOf(text, wanted.trim());
  const matches = segments.filter(({ isMatch }) => isMatch).length;
  const chosen = matches === 0 ? 0 : ((current % matches) + matches) % matches;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another match is to be seen
  useEffect(() => {
    shown.current?.querySelector('[data-current="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [chosen, wanted]);
  let number = -1;
  return (
    <>
      <search className={styles.find}>
        <TextField
          label={t.eventLog.find}
          value={wanted}
          onChange={(value) => {
            setWanted(value);
            setCurrent(0);
          }}
          onKeyDown={({ key, shiftKey }) => {
            if (key === 'Enter') setCurrent(chosen + (shiftKey ? -1 : 1));
          }}
          isCode
        />
        <Button isDisabled={matches < 2} onPress={() => setCurrent(chosen - 1)}>
          {t.eventLog.previous}
        </Button>
        <Button isDisabled={matches < 2} onPress={() => setCurrent(chosen + 1)}>
          {t.eventLog.next}
        </Button>
        <span role="status" className="quiet">
          {wanted.trim() === ''
            ? ''
            : t.eventLog.matches(
                matches === 0 ? 0 : chosen + 1,
                matches === MAX_MATCHES ? `${matches}+` : String(matches),
              )}
        </span>
      </search>
      <pre
        ref={shown}
        className={styles.payload}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
      >
        {segments.map((segment, index) => {
          if (!segment.isMatch) return segment.text;
          number += 1;
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: a part is nothing but its place
            <mark key={index} data-current={number === chosen}>
              {segment.text}
            </mark>
          );
        })}
      </pre>
    </>
  );
}
