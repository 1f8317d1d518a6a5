import { type ReactNode, useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { t } from '../text/language.ts';
import { Button } from './button.tsx';
import { Dialog, DialogActions } from './dialog.tsx';
import { TextField } from './field.tsx';
import { Failure } from './notice.tsx';

/**
 * Asks before something with consequences. @param look `primary` where it can be undone
 * @param typed what has to be typed, where a press of Enter must not be enough
 */
export function Confirm({
  title,
  action,
  look = 'destroy',
  typed,
  typedLabel,
  sent: { error, isPending },
  onConfirm,
  onClose,
  children,
}: {
  title: string;
  action: string;
  look?: 'destroy' | 'primary';
  typed?: string;
  typedLabel?: string;
  sent: { error: unknown; isPending: boolean };
  onConfirm: () => void;
  onClose: () => void;
  children: ReactNode;
}) {
  const [given, setGiven] = useState('');
  const isSure = typed === undefined || given.trim() === typed;
  return (
    <Dialog title={title} role="alertdialog" isOpen onClose={onClose}>
      <Form
        onSubmit={(event) => {
          event.preventDefault();
          if (isSure && !isPending) onConfirm();
        }}
        className="stack"
      >
        {children}
        {typed === undefined ? null : (
          <>
            <code>{typed}</code>
            <TextField label={typedLabel ?? typed} value={given} onChange={setGiven} isCode autoFocus />
          </>
        )}
        <Failure error={error} />
        <DialogActions>
          <Button onPress={onClose}>{t.cancel}</Button>
          <Button type="submit" look={look} isDisabled={!isSure} isPending={isPending}>
            {action}
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
