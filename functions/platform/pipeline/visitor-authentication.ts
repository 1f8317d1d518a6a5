import { bearerVisitorToken, type Visit } from '../../domain/visitor-token.ts';
import { type Authenticate, unauthenticated } from './authentication.ts';
import { header } from './request.ts';

export interface VisitorAuthenticationOptions {
  /** The visit that a token stands for now, or undefined when it stands for none. */
  visitOf(token: string): Promise<Visit | undefined>;
  /** Whose data is current: a reset of a sandbox ends its visits. */
  standings: { of(orgId: Visit['orgId']): Promise<{ generation: number } | undefined> };
}

/** Visitors of a web widget, who may be anybody and see one conversation. What is wrong with a token is told to nobody. */
export function visitorAuthentication({ visitOf, standings }: VisitorAuthenticationOptions): Authenticate {
  return async (event) => {
    const token = bearerVisitorToken(header(event, 'authorization'));
    const visit = token === undefined ? undefined : await visitOf(token);
    if (visit === undefined) return unauthenticated('visitor');
    const { orgId, generation, conversationId } = visit;
    const standing = await standings.of(orgId);
    if (standing?.generation !== generation) return unauthenticated('visitor');
    return {
      tenant: { orgId, generation },
      conversationId,
      bucket: { orgId, kind: `visitor/${conversationId}` },
      tier: 'visitor',
      logged: { conversationId },
    };
  };
}
