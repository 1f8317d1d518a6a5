import { useState } from 'react';
import { useTexts } from '../text/language.ts';
import { Button } from './button.tsx';
import { CopyLine } from './copy.tsx';
import { DialogActions } from './dialog.tsx';
import { Check } from './field.tsx';
import { Notice } from './notice.tsx';

/** A secret that is shown this once. Closing takes a word that it was kept. @param what it is called */
export function SecretOnce({ secret, what, onClose }: { secret: string; what: string; onClose: () => void }) {
  const t = useTexts();
  const [isKept, setKept] = useState(false);
  return (
    <>
      <Notice tone="warn" title={t.secret.once} />
      <CopyLine text={secret} what={what} />
      <Check isSelected={isKept} onChange={setKept}>
        {t.secret.kept}
      </Check>
      <DialogActions>
        <Button look="primary" isDisabled={!isKept} onPress={onClose}>
          {t.done}
        </Button>
      </DialogActions>
    </>
  );
}
