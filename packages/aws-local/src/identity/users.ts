import { v5 as uuidFrom } from 'uuid';
import { LocalRunError } from '../errors.ts';
import { STANDARD_ATTRIBUTES, type UserPool } from './user-pool.ts';

export interface User {
  email: string;
  password: string;
  /** Values by claim name, such as `custom:role`. */
  attributes: Readonly<Record<string, string>>;
}

/** A user with the `sub` of the tokens. */
export interface KnownUser extends User {
  id: string;
}

export interface Users {
  /**
   * Replaces all users.
   * @throws LocalRunError when one has an attribute that the pool does not allow
   */
  set(users: readonly User[]): void;
  all(): readonly KnownUser[];
  byId(id: string): KnownUser | undefined;
  byEmail(email: string): KnownUser | undefined;
  /** @returns undefined for a wrong address or password */
  authenticate(email: string, password: string): KnownUser | undefined;
}

/** Namespace of the ids, so that a user has the same id in every run (RFC 9562, section 5.5). */
const USERS = '6f2f7f0e-7a06-5e0b-9a53-0c1c5c9f0d35';

export function createUsers(pool: Pick<UserPool, 'id' | 'customAttributes'>): Users {
  let directory: readonly KnownUser[] = [];
  const byEmail = (email: string) => directory.find((user) => sameAddress(user.email, email));
  return {
    set(users) {
      for (const user of users) checkAttributes(pool, user);
      directory = users.map((user) => ({
        ...user,
        id: uuidFrom(`${pool.id} ${user.email.toLowerCase()}`, USERS),
      }));
    },
    all: () => directory,
    byId: (id) => directory.find((user) => user.id === id),
    byEmail,
    authenticate(email, password) {
      const user = byEmail(email.trim());
      return user?.password === password ? user : undefined;
    },
  };
}

const sameAddress = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

function checkAttributes({ customAttributes }: Pick<UserPool, 'customAttributes'>, user: User): void {
  for (const [name, value] of Object.entries(user.attributes)) {
    if (STANDARD_ATTRIBUTES.includes(name)) continue;
    const allowed = customAttributes.get(name);
    if (!allowed) throw new LocalRunError(`${user.email}: the user pool has no attribute ${name}`);
    const { minLength, maxLength } = allowed;
    if (value.length < minLength || value.length > maxLength) {
      throw new LocalRunError(
        `${user.email}: the user pool takes ${minLength} to ${maxLength} characters as ${name}, not ${value.length}`,
      );
    }
  }
}
