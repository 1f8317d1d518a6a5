import { useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { type Organization, useUpdateOrganization } from '../../api/organization.ts';
import { useIsAdmin } from '../../app/person.ts';
import { Button } from '../../parts/button.tsx';
import { Check, TextField } from '../../parts/field.tsx';
import { Failure } from '../../parts/notice.tsx';
import { Card } from '../../parts/page.tsx';
import { Status } from '../../parts/status.tsx';
import { format, t } from '../../text/language.ts';
import { percentFrom } from './percent.ts';
import styles from './settings.module.css';

/** Settings of content-change notifications: visible to all, changed by admins. */
export function Notifications({ organization }: { organization: Organization }) {
  const isAdmin = useIsAdmin();
  return (
    <Card title={t.settings.notifications}>
      {organization.mailer ? null : <p>{t.settings.noMailer}</p>}
      {isAdmin ? <Change organization={organization} /> : <See organization={organization} />}
    </Card>
  );
}

const See = ({ organization }: { organization: Organization }) => (
  <>
    <p>
      {organization.contentChangeNotifications
        ? t.settings.membersState(format.percent(organization.contentChangeThreshold / 100))
        : t.settings.membersOff}
    </p>
    <p className="quiet">{t.settings.members}</p>
  </>
);

function Change({ organization }: { organization: Organization }) {
  const [isTold, setTold] = useState(organization.contentChangeNotifications);
  const [threshold, setThreshold] = useState(`${organization.contentChangeThreshold}`);
  const { mutate, isPending, isSuccess, error, reset } = useUpdateOrganization();
  const percent = percentFrom(threshold);
  /** What is changed is not what was saved. */
  const changed =
    <Value,>(set: (value: Value) => void) =>
    (value: Value) => {
      set(value);
      reset();
    };
  return (
    <Form
      className={styles.form ?? ''}
      onSubmit={(event) => {
        event.preventDefault();
        if (percent === undefined || isPending) return;
        mutate({ contentChangeThreshold: percent, contentChangeNotifications: isTold });
      }}
    >
      <Check isSelected={isTold} onChange={changed(setTold)}>
        {t.settings.notify}
      </Check>
      <TextField
        label={t.settings.threshold}
        hint={t.settings.thresholdHint}
        inputMode="decimal"
        value={threshold}
        onChange={changed(setThreshold)}
        problem={percent === undefined ? t.settings.thresholdInvalid : undefined}
      />
      <Failure error={error} />
      <div className="row">
        <Button type="submit" look="primary" isPending={isPending}>
          {t.common.save}
        </Button>
        <span role="status">{isSuccess ? <Status tone="good">{t.settings.saved}</Status> : null}</span>
      </div>
    </Form>
  );
}
