/** Settings of a template's user pool and its client. */
export interface UserPool {
  id: string;
  clientId: string;
  /** Custom attributes (`custom:…`) with the allowed lengths of their values. */
  customAttributes: ReadonlyMap<string, { minLength: number; maxLength: number }>;
  /** Attributes that the client's tokens may contain. */
  readAttributes: readonly string[];
  /** Scopes of the sign-in page; empty when the client does not use it. */
  scopes: readonly string[];
  callbackUrls: readonly string[];
  logoutUrls: readonly string[];
  revocation: boolean;
  /** Whether each use of a refresh token replaces it. */
  rotation: boolean;
  /** Seconds. */
  lifetimes: { idToken: number; accessToken: number; refreshToken: number };
}

/** Standard attributes of the scope `profile` (OpenID Connect Core 1.0, section 5.4). */
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

export const STANDARD_ATTRIBUTES: readonly string[] = [
  ...PROFILE_ATTRIBUTES,
  ...EMAIL_ATTRIBUTES,
  ...PHONE_ATTRIBUTES,
  'address',
];

const CUSTOM = 'custom:';

/**
 * Attributes that a token may contain (Cognito Developer Guide, The user attributes endpoint): with `openid`
 * alone all that the client can read; with `profile`, `email` or `phone` only theirs, so that `openid email`
 * excludes custom attributes.
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
