import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { aCloud, aPlace, arn, lambda, role, userPool } from './a-cloud.ts';

const sdkOf = (name: string) =>
  JSON.stringify(createRequire(import.meta.url).resolve(`@aws-sdk/client-${name}`));

/** `notify` sends an e-mail to all users of an organization in the user pool. */
const handlers = `
import cognito from ${sdkOf('cognito-identity-provider')};
import ses from ${sdkOf('sesv2')};
const pool = new cognito.CognitoIdentityProviderClient({});
const mail = new ses.SESv2Client({});
export async function notify({ organization, from = 'notifications@local.test' }) {
  const { Users } = await pool.send(new cognito.ListUsersCommand({
    UserPoolId: process.env.POOL,
    Filter: 'preferred_username = "' + organization + '"',
  }));
  const email = ({ Attributes }) => Attributes.find(({ Name }) => Name === 'email').Value;
  const { MessageId } = await mail.send(new ses.SendEmailCommand({
    FromEmailAddress: from,
    Destination: { ToAddresses: Users.map(email) },
    Content: { Simple: { Subject: { Data: 'Changed' }, Body: { Text: { Data: 'It has changed.' } } } },
  }));
  return MessageId;
}
`;

const identity = (name: string) => ({
  'Fn::Join': ['', ['arn:aws:ses:us-east-1:', { Ref: 'AWS::AccountId' }, `:identity/${name}`]],
});

const resources = {
  ...userPool,
  NotifyRole: role(
    { Action: 'cognito-idp:ListUsers', Resource: arn('Users') },
    { Action: 'ses:SendEmail', Resource: identity('local.test') },
  ),
  Notify: lambda('notify', 'NotifyRole', { POOL: { Ref: 'Users' } }),
};

const ada = { email: 'ada@local.test', password: 'unused', attributes: { preferred_username: 'org_1' } };

describe('a template that sends e-mail', () => {
  it('finds users in the user pool, and has their e-mails in the mailbox', async () => {
    const { cloud } = await aCloud(aPlace(resources, handlers));
    cloud.identity?.setUsers([
      ada,
      { ...ada, email: 'bob@local.test', attributes: { preferred_username: 'org_2' } },
    ]);
    const page = async (path = '') => (await fetch(`${cloud.mailboxUrl}${path}`)).text();
    expect(await page()).toContain('Nothing was sent yet.');

    await cloud.invoke('Test-Notify', { organization: 'org_1' });

    const list = await page();
    expect(list).toContain('<td>ada@local.test</td>');
    const [, name = ''] = /href="\/mailbox(\/[^"]+)">Changed</.exec(list) ?? [];
    expect(await page(name)).toContain('<pre>It has changed.</pre>');
  });
});
