import { useReset } from '../../api/sandbox.ts';
import { usePerson } from '../../app/person.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { t } from '../../text/language.ts';

/** Deletes the data of the sandbox after the name of the organization was typed. */
export function Reset({ onClose }: { onClose: () => void }) {
  const { organizationName } = usePerson();
  const { mutate, isPending, error } = useReset();
  return (
    <Confirm
      title={t.sandbox.resetTitle}
      action={t.sandbox.resetAction}
      typed={organizationName}
      typedLabel={t.sandbox.resetTyped}
      isPending={isPending}
      error={error}
      onConfirm={() => mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    >
      <p>{t.sandbox.resetWipes}</p>
      <p>{t.sandbox.resetKeeps}</p>
      <p>{t.sandbox.resetLive}</p>
    </Confirm>
  );
}
