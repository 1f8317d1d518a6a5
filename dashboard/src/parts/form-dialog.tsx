import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { faultsByField } from '../api/failures.ts';
import { t } from '../text/language.ts';
import { Button } from './button.tsx';
import { Dialog, DialogActions } from './dialog.tsx';
import { Failure, Notice } from './notice.tsx';

/**
 * A dialog with a form. It shows what the service refused at the fields, in the page's language, and
 * everything else below them. The first field with a fault gets the focus. Escape does not discard what was
 * filled in, and nothing closes it while it is sent: a secret may come with the answer alone.
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
  const { unedited, isEdited, onInput } = useEdits(problems);
  useEffect(() => {
    const first = Object.keys(problems)[0];
    if (first !== undefined) form.current?.querySelector<HTMLElement>(`[name="${first}"]`)?.focus();
  }, [problems]);
  return (
    <Dialog title={title} isOpen onClose={isPending || isEdited ? undefined : onClose}>
      {about === undefined ? null : <p className="quiet">{about}</p>}
      <Form
        ref={form}
        validationErrors={unedited}
        onSubmit={(event) => {
          event.preventDefault();
          if (!isPending) onSubmit();
        }}
      >
        <div className="stack" onInput={onInput}>
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
        </div>
      </Form>
    </Dialog>
  );
}

const NONE: readonly string[] = [];

/**
 * Problems of fields that were not edited since, and whether anything was edited at all.
 * @returns with a handler for React's own event: before that one, drawing a field anew would undo what was
 * typed
 */
function useEdits(problems: Record<string, string>) {
  const [edited, setEdited] = useState<{ since: object; names: readonly string[] }>();
  const names = edited?.since === problems ? edited.names : NONE;
  const unedited = useMemo(
    () => Object.fromEntries(Object.entries(problems).filter(([name]) => !names.includes(name))),
    [problems, names],
  );
  const onInput = ({ target }: { target: EventTarget }) => {
    const name = target instanceof Element ? (target.getAttribute('name') ?? '') : '';
    setEdited({ since: problems, names: [...names, name] });
  };
  return { unedited, isEdited: edited !== undefined, onInput };
}
