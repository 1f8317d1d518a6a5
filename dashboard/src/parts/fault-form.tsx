import { type ReactNode, useEffect, useMemo, useRef } from 'react';
import { Form } from 'react-aria-components/Form';
import { faultsByField, kindOf } from '../api/field-faults.ts';
import { useTexts } from '../text/language.ts';
import { Failure, Notice, RequestId } from './notice.tsx';

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
  const t = useTexts();
  const form = useRef<HTMLFormElement>(null);
  const names = fields.join();
  const { problems, isWhole } = useMemo(
    () =>
      faultsByField(error, names.split(','), ({ message }) => {
        const known = kindOf(message);
        return known === undefined ? message : t.forms.faults[known.kind](known.limit);
      }),
    [error, names, t],
  );
  useEffect(() => {
    const first = Object.keys(problems)[0];
    if (first !== undefined) form.current?.querySelector<HTMLElement>(`[name="${first}"]`)?.focus();
  }, [problems]);
  return (
    <Form
      ref={form}
      className="stack"
      validationErrors={problems}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
      {error ? (
        isWhole ? (
          <Notice tone="bad" title={t.forms.correct}>
            <RequestId error={error} />
          </Notice>
        ) : (
          <Failure error={error} />
        )
      ) : null}
      {actions}
    </Form>
  );
}
