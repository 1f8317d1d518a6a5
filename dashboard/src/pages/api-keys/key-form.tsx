import { useState } from 'react';
import { useLocation } from 'wouter';
import { mayHaveHappened } from '../../api/failures.ts';
import type { KeyTerms } from '../../api/organization.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';

import { Choices, TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { Notice } from '../../parts/notice.tsx';
import { SecretOnce } from '../../parts/secret.tsx';
import { t } from '../../text/language.ts';
import { chosenScopes, SCOPES, type Scope } from './scopes.ts';

const MAX_NAME = 200;

/** Asks what a key is for and may do, and shows it, once. @param secret of the key, as soon as it is made */
export function KeyDialog({
  title,
  about,
  action,
  secret,
  sent,
  onSubmit,
  onClose,
}: {
  title: string;
  about: string;
  action: string;
  secret: string | undefined;
  sent: { error: unknown; isPending: boolean };
  onSubmit: (terms: KeyTerms) => void;
  onClose: () => void;
}) {
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<readonly Scope[]>([]);
  if (secret !== undefined)
    return (
      <Dialog title={t.keys.createdTitle} isOpen>
        <p>
          <bdi>{name.trim()}</bdi>
        </p>
        <p className="quiet">{t.keys.secretAbout}</p>
        <SecretOnce secret={secret} what={t.keys.secret} onClose={onClose} />
      </Dialog>
    );
  return (
    <FormDialog
      title={title}
      about={about}
      action={action}
      sent={sent}
      fields={['name', 'scopes']}
      note={mayHaveHappened(sent.error) ? <MayExist onClose={onClose} /> : null}
      onSubmit={() => onSubmit({ name: name.trim(), scopes: [...scopes] })}
      onClose={onClose}
    >
      <TextField
        label={t.common.name}
        hint={t.keys.nameHint}
        name="name"
        isRequired
        autoFocus
        maxLength={MAX_NAME}
        // What is only spaces would be no name.
        pattern=".*\S.*"
        value={name}
        onChange={setName}
      />
      <Choices
        label={t.keys.scopes}
        hint={t.keys.scopesHint}
        name="scopes"
        isRequired
        choices={SCOPES.map((scope) => ({
          value: scope,
          label: t.scopes[scope].name,
          hint: t.scopes[scope].about,
        }))}
        value={scopes}
        onChange={(chosen) => setScopes(chosenScopes(scopes, chosen))}
      />
    </FormDialog>
  );
}

/** After a lost response: the key may exist, and its secret is lost. */
function MayExist({ onClose }: { onClose: () => void }) {
  const [, navigate] = useLocation();
  return (
    <Notice tone="warn" title={t.keys.mayExist}>
      <p>{t.keys.mayExistAbout}</p>
      <div>
        <Button
          onPress={() => {
            onClose();
            navigate('/api-keys');
          }}
        >
          {t.keys.seeKeys}
        </Button>
      </div>
    </Notice>
  );
}
