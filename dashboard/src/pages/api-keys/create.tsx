import { useCreateKey } from '../../api/keys.ts';
import { t } from '../../text/language.ts';
import { KeyDialog } from './key-form.tsx';

/** Makes a live key. */
export function Create({ onClose }: { onClose: () => void }) {
  const { mutate, data, isPending, error } = useCreateKey();
  return (
    <KeyDialog
      title={t.keys.create}
      about={t.keys.liveAbout}
      action={t.keys.create}
      secret={data?.secretOnce}
      isPending={isPending}
      error={error}
      onSubmit={(terms) => mutate(terms)}
      onClose={onClose}
    />
  );
}
