import { type ReactNode, type RefObject, useEffect, useMemo, useRef, useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { faultsByField } from '../api/field-faults.ts';
import { t } from '../text/language.ts';
import { Failure, Notice } from './notice.tsx';

/**
 * A form that shows what the service refused at the fields, in the page's language, and everything else below
 * them. The first field with a fault gets the focus.
 * @param fields names of its fields, as the API has them
 * @param actions its buttons, below the error
 */
export function FaultForm({
  error,
  fields,
  onSubmit,
  actions,
  children,
}: {
  error: unknown;
  fields: readonly string[];
  onSubmit: () => void;
  actions: ReactNode;
  children: ReactNode;
}) {
  const form = useRef<HTMLFormElement>(null);
  const names = fields.join();
  const { problems, isWhole } = useMemo(
    () =>
      faultsByField(
        error,
        names.split(','),
        ({ code, message, limit = 0 }) => t.forms.faults[code]?.(limit) ?? message,
      ),
    [error, names],
  );
  const unedited = useUnedited(problems, form);
  useEffect(() => {
    const first = Object.keys(problems)[0];
    if (first !== undefined) form.current?.querySelector<HTMLElement>(`[name="${first}"]`)?.focus();
  }, [problems]);
  return (
    <Form
      ref={form}
      className="stack"
      validationErrors={unedited}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
      {error ? isWhole ? <Notice tone="bad" title={t.forms.correct} /> : <Failure error={error} /> : null}
      {actions}
    </Form>
  );
}

/** Problems of fields that were not edited since: what was wrong with the others is no longer there. */
function useUnedited(problems: Record<string, string>, form: RefObject<HTMLFormElement | null>) {
  const [left, setLeft] = useState(problems);
  useEffect(() => {
    setLeft(problems);
    const forget = ({ target }: Event) => {
      if (target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement)
        setLeft((known) =>
          Object.hasOwn(known, target.name)
            ? Object.fromEntries(Object.entries(known).filter(([name]) => name !== target.name))
            : known,
        );
    };
    const { current } = form;
    current?.addEventListener('input', forget);
    return () => current?.removeEventListener('input', forget);
  }, [problems, form]);
  return left;
}
