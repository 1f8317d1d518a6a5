import { type ReactNode, useEffect, useState } from 'react';
import { t } from '../text/language.ts';
import { Button } from './button.tsx';
import styles from './copy.module.css';
import { Shortened } from './url.tsx';

const SAID_MS = 2_500;

/**
 * Copies a text, and says whether it did. @param what it is, for those who hear the button and do not see
 * what is beside it
 * @param label on the button, where one word is not enough
 */
export function CopyButton({
  text,
  what,
  label,
  onCopied,
}: {
  text: string;
  what: string;
  label?: string;
  onCopied?: () => void;
}) {
  const [result, setResult] = useState<'copied' | 'refused'>();
  useEffect(() => {
    if (result === undefined) return;
    const timer = setTimeout(() => setResult(undefined), SAID_MS);
    return () => clearTimeout(timer);
  }, [result]);
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => {
        setResult('copied');
        onCopied?.();
      },
      () => setResult('refused'),
    );
  return (
    <Button look="plain" aria-label={label ?? t.copy.of(what)} onPress={() => void copy()}>
      <span aria-hidden="true" className={result === 'copied' ? styles.said : undefined}>
        {result === undefined ? (label ?? t.copy.copy) : t.copy[result]}
      </span>
      <span role="status" className="visually-hidden">
        {result === undefined ? '' : t.copy[result]}
      </span>
    </Button>
  );
}

/** A text to be copied; all of it can be seen. */
export const CopyLine = ({ text, what, onCopied }: { text: string; what: string; onCopied: () => void }) => (
  <div className={styles.line}>
    <code className={styles.text}>{text}</code>
    <CopyButton text={text} what={what} onCopied={onCopied} />
  </div>
);

/**
 * An identifier and a button that copies it, on one line.
 * @param children the identifier as a link
 */
export const CopyId = ({ id, what, children }: { id: string; what: string; children?: ReactNode }) => (
  <span className={styles.id}>
    {children ?? <Shortened text={id} />}
    <CopyButton text={id} what={what} />
  </span>
);
