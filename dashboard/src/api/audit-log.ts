import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { answerTo, api, type Environment, type Schema } from './client.ts';

export type AuditEntry = Schema<'AuditEntry'>;
export type AuditAction = AuditEntry['action'];
export type AuditActor = AuditEntry['actor'];

export interface AuditQuery {
  environment: Environment;
  action?: string;
  actorType?: AuditActor['type'];
  actorId?: string;
  /** ISO 8601. */
  from?: string;
  to?: string;
}

const PAGE = 50;
const LARGEST_PAGE = 100;
/** Pages that are read to find who created keys. */
const MAX_PAGES = 5;
const PATH = '/api/settings/audit-log';

const readPage = ({ actorType, ...query }: AuditQuery, limit: number, cursor: string | null) =>
  answerTo(
    api.GET(PATH, {
      params: {
        query: {
          limit,
          ...query,
          ...(actorType === undefined ? {} : { actorType }),
          ...(cursor === null ? {} : { cursor }),
        },
      },
    }),
  );

/** Entries of the audit log, newest first. Admins only. */
export const useAuditLog = (query: AuditQuery) =>
  useInfiniteQuery({
    queryKey: [query.environment, 'audit-log', query],
    queryFn: ({ pageParam }) => readPage(query, PAGE, pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });

/**
 * Who created each of the keys, by the audit log, which has it for 400 days. A key without an entry is not in
 * the map.
 */
export const useKeyCreators = (ids: readonly string[]) =>
  useQuery({
    queryKey: ['live', 'key-creators', ids],
    enabled: ids.length > 0,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => {
      const creators = new Map<string, AuditActor>();
      let cursor: string | null = null;
      for (let page = 0; page < MAX_PAGES; page += 1) {
        const { data, nextCursor }: Awaited<ReturnType<typeof readPage>> = await readPage(
          { environment: 'live', action: 'api_key.created' },
          LARGEST_PAGE,
          cursor,
        );
        for (const { target, actor } of data) creators.set(target.id, actor);
        cursor = nextCursor;
        if (cursor === null || ids.every((id) => creators.has(id))) break;
      }
      return creators;
    },
  });
