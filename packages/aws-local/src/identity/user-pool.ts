/** What the local run takes from a template's user pool and from its client. */
export interface UserPool {
  id: string;
  clientId: string;
  /**
   * Names of the attributes that the template defines (`custom:…`), with the lengths that their values may
   * have.
   */
  customAttributes: ReadonlyMap<string, { minLength: number; maxLength: number }>;
  /** Names of the attributes that the client's tokens may carry. */
  readAttributes: readonly string[];
  /** What may be asked for at the sign-in page; empty when the client does not use it. */
  scopes: readonly string[];
  callbackUrls: readonly string[];
  logoutUrls: readonly string[];
  /** Whether a refresh token can be revoked. */
  revocation: boolean;
  /** Whether each use of a refresh token gives another one in its place. */
  rotation: boolean;
  /** In seconds. */
  lifetimes: { idToken: number; accessToken: number; refreshToken: number };
}

/**
 * Of a user pool's standard attributes, those that the scope `profile` stands for (OpenID Connect Core 1.0,
 * section 5.4).
 */
const PROFILE_ATTRIBUTES = [
  'name',
  'family_name',
  'given_name',
  'middle_name',
  'nickname',
  'preferred_username',
  'profile',
  'picture',
  'website',
  'gender',
  'birthdate',
  'zoneinfo',
  'locale',
  'updated_at',
] as const;
const EMAIL_ATTRIBUTES = ['email', 'email_verified'];
const PHONE_ATTRIBUTES = ['phone_number', 'phone_number_verified'];

/** Every pool has these. */
export const STANDARD_ATTRIBUTES: readonly string[] = [
  ...PROFILE_ATTRIBUTES,
  ...EMAIL_ATTRIBUTES,
  ...PHONE_ATTRIBUTES,
  'address',
];

const CUSTOM = 'custom:';

/**
 * The attributes that a token may carry, as Cognito decides it (Developer Guide, The user attributes
 * endpoint): with `openid` alone all that the client can read; with `profile`, `email` or `phone` beside it
 * those that they stand for and no others, so that `openid email` leaves out custom attributes.
 *
 * @param scope of the authorization, space-separated
 */
export function attributesIn(pool: Pick<UserPool, 'readAttributes'>, scope: string): string[] {
  const scopes = new Set(scope.split(' '));
  const groups: [scope: string, covers: (name: string) => boolean][] = [
    ['profile', (name) => name.startsWith(CUSTOM) || PROFILE_ATTRIBUTES.some((one) => one === name)],
    ['email', (name) => EMAIL_ATTRIBUTES.includes(name)],
    ['phone', (name) => PHONE_ATTRIBUTES.includes(name)],
  ];
  const asked = groups.filter(([group]) => scopes.has(group));
  return pool.readAttributes.filter((name) => asked.length === 0 || asked.some(([, covers]) => covers(name)));
}
