import { useProvision } from '../../api/sandbox.ts';
import { t } from '../../text/language.ts';
import { KeyDialog } from '../api-keys/key-form.tsx';

/** Makes the sandbox with its first key, or one more key for it. */
export function Provision({ isFirst, onClose }: { isFirst: boolean; onClose: () => void }) {
  const { mutate, data, isPending, error } = useProvision();
  return (
    <KeyDialog
      title={isFirst ? t.sandbox.makeTitle : t.sandbox.keyTitle}
      about={isFirst ? t.sandbox.firstKey : t.sandbox.keyAbout}
      action={isFirst ? t.sandbox.make : t.sandbox.keyAction}
      secret={data?.key.secretOnce}
      isPending={isPending}
      error={error}
      onSubmit={(terms) => mutate(terms)}
      onClose={onClose}
    />
  );
}
