import { useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { type Organization, useOrganization, useUpdateOrganization } from '../../api/organization.ts';
import { useIsAdmin, usePerson } from '../../app/person.ts';
import { chooseTheme, chosenTheme, THEMES } from '../../app/theme.ts';
import { Button } from '../../parts/button.tsx';
import { Check } from '../../parts/check.tsx';
import { Choose } from '../../parts/choose.tsx';
import { CopyId } from '../../parts/copy.tsx';
import { TextField } from '../../parts/field.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Failure } from '../../parts/notice.tsx';
import { Card, Facts, Page } from '../../parts/page.tsx';
import { Status } from '../../parts/status.tsx';
import { Moment } from '../../parts/time.tsx';
import { chooseLanguage, format, LANGUAGES, type Language, language, t } from '../../text/language.ts';
import { percentFrom } from './percent.ts';
import styles from './settings.module.css';

export default function Settings() {
  return (
    <Page title={t.settings.title}>
      <Loaded query={useOrganization()}>
        {(organization) => (
          <>
            <OrganizationFacts organization={organization} />
            <Notifications organization={organization} />
          </>
        )}
      </Loaded>
      <Browser />
      <Account />
    </Page>
  );
}

const OrganizationFacts = ({
  organization: { id, name, tier, createdAt },
}: {
  organization: Organization;
}) => (
  <Card title={t.nav.organization}>
    <Facts
      facts={[
        [t.common.name, <bdi key="name">{name}</bdi>],
        [t.common.id, <CopyId key="id" id={id} what={t.common.id} />],
        [t.settings.tier, t.settings.tiers[tier]],
        [t.common.created, <Moment key="created" at={createdAt} />],
      ]}
    />
  </Card>
);

function Account() {
  const { email, userId, role, expiresAt } = usePerson();
  return (
    <Card title={t.settings.you}>
      <Facts
        facts={[
          [t.settings.email, email === null ? t.none : <bdi key="email">{email}</bdi>],
          [t.settings.userId, <code key="user">{userId}</code>],
          [t.settings.role, t.account.role[role]],
          [t.settings.sessionEnds, <Moment key="ends" at={expiresAt} />],
        ]}
      />
      <p className="quiet">{t.settings.sessionAbout}</p>
    </Card>
  );
}

const CODES = ['en', 'de'] as const satisfies readonly Language[];

function Browser() {
  const [wanted, setWanted] = useState<Language>(language);
  const [theme, setTheme] = useState(chosenTheme);
  return (
    <Card title={t.settings.browser}>
      <div className={styles.form}>
        <Choose
          label={t.settings.theme}
          options={THEMES.map((value) => ({ value, label: t.settings.themes[value] }))}
          value={theme}
          onChange={(chosen) => {
            chooseTheme(chosen);
            setTheme(chosen);
          }}
        />
        <Choose
          label={t.settings.language}
          options={CODES.map((value) => ({ value, label: LANGUAGES[value] }))}
          value={wanted}
          onChange={setWanted}
        />
        <p className="quiet">{t.settings.zone(Intl.DateTimeFormat().resolvedOptions().timeZone)}</p>
        {/* Not with the choice itself: arrow keys choose each language on the way. */}
        {wanted === language ? null : (
          <div className="row">
            <Button
              onPress={() => {
                chooseLanguage(wanted);
                window.location.reload();
              }}
            >
              {t.settings.useLanguage}
            </Button>
            <span className="quiet">{t.settings.languageAbout}</span>
          </div>
        )}
      </div>
    </Card>
  );
}

/** Settings of content-change notifications: visible to all, changed by admins. */
function Notifications({ organization }: { organization: Organization }) {
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
