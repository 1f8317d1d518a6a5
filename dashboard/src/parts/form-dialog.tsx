import { type ReactNode, type RefObject, useEffect, useMemo, useRef, useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { faultsByField } from '../api/failures.ts';
import { t } from '../text/language.ts';
import { Button } from './button.tsx';
import { Dialog, DialogActions } from './dialog.tsx';
import { Failure, Notice } from './notice.tsx';

/**
 * A dialog with a form. It shows what the service refused at the fields, in the page's language, and everything
 * else below them. The first field with a fault gets the focus. Escape does not discard what was filled in, and
 * nothing closes it while it is sent: what is made may have a secret that comes with the answer alone.
 * @param fields names of its fields, as the API has them
 * @param note stands above the buttons
 */
export function FormDialog({
  title,
  about,
  action,
  sent: { error, isPending },
  fields,
  note,
  onSubmit,
  onClose,
  children,
}: {
  title: string;
  about?: string | undefined;
  action: string;
  sent: { error: unknown; isPending: boolean };
  fields: readonly string[];
  note?: ReactNode;
  onSubmit: () => void;
  onClose: () => void;
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
  const { unedited, isEdited } = useEdits(problems, form);
  useEffect(() => {
    const first = Object.keys(problems)[0];
    if (first !== undefined) form.current?.querySelector<HTMLElement>(`[name="${first}"]`)?.focus();
  }, [problems]);
  return (
    <Dialog title={title} isOpen onClose={isPending || isEdited ? undefined : onClose}>
      {about === undefined ? null : <p className="quiet">{about}</p>}
      <Form
        ref={form}
        className="stack"
        validationErrors={unedited}
        onSubmit={(event) => {
          event.preventDefault();
          if (!isPending) onSubmit();
        }}
      >
        {children}
        {isWhole ? <Notice tone="bad" title={t.forms.correct} /> : <Failure error={error} />}
        {note}
        <DialogActions>
          <Button onPress={onClose} isDisabled={isPending}>
            {t.cancel}
          </Button>
          <Button type="submit" look="primary" isPending={isPending}>
            {action}
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}

/** Problems of fields that were not edited since, and whether anything was edited at all. */
function useEdits(problems: Record<string, string>, form: RefObject<HTMLFormElement | null>) {
  const [unedited, setUnedited] = useState(problems);
  const [isEdited, setEdited] = useState(false);
  useEffect(() => {
    setUnedited(problems);
    const onInput = ({ target }: Event) => {
      setEdited(true);
      if (target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement)
        setUnedited((known) =>
          Object.hasOwn(known, target.name)
            ? Object.fromEntries(Object.entries(known).filter(([name]) => name !== target.name))
            : known,
        );
    };
    const { current } = form;
    current?.addEventListener('input', onInput);
    return () => current?.removeEventListener('input', onInput);
  }, [problems, form]);
  return { unedited, isEdited };
}
