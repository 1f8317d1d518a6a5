import { type ReactNode, useState } from 'react';
import { t } from '../text/language.ts';
import { Button } from './button.tsx';
import { Check } from './check.tsx';
import { CopyLine } from './copy.tsx';
import { DialogActions } from './dialog.tsx';
import { Notice } from './notice.tsx';

/**
 * A secret that is shown this once. Closing takes a word that it was kept, which copying it gives.
 * @param what it is called
 * @param children what can be done once it is kept
 */
export function SecretOnce({
  secret,
  what,
  onClose,
  children,
}: {
  secret: string;
  what: string;
  onClose: () => void;
  children?: ReactNode;
}) {
  const [isKept, setKept] = useState(false);
  return (
    <>
      <Notice tone="warn" title={t.secret.once} />
      <CopyLine text={secret} what={what} onCopied={() => setKept(true)} />
      <Check isSelected={isKept} onChange={setKept}>
        {t.secret.kept}
      </Check>
      {isKept ? children : null}
      <DialogActions>
        <Button look="primary" isDisabled={!isKept} onPress={onClose}>
          {t.done}
        </Button>
      </DialogActions>
    </>
  );
}
