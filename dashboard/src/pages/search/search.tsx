import { useQuery } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useMemo, useState } from 'react';
import { Autocomplete } from 'react-aria-components/Autocomplete';
import { Dialog } from 'react-aria-components/Dialog';
import { Input } from 'react-aria-components/Input';
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { TextField } from 'react-aria-components/TextField';
import { useLocation } from 'wouter';
import type { Environment } from '../../api/client.ts';
import { LOGGED_TYPES } from '../../api/event-types.ts';
import { useKeys } from '../../api/organization.ts';
import { useSources } from '../../api/sources.ts';
import { useEndpoints } from '../../api/webhooks.ts';
import { pathIn, useEnvironment } from '../../app/environment.ts';
import { useIsAdmin } from '../../app/person.ts';
import { PLACES } from '../../app/places.ts';
import { isNoSandbox } from '../../parts/loaded.tsx';
import { Failure } from '../../parts/notice.tsx';
import { t } from '../../text/language.ts';
import { nameOf as sourceName } from '../sources/name.ts';
import { lookUpPorts } from './api.ts';
import { idIn, isId, isPartialId } from './ids.ts';
import { type LookedUp, lookUp } from './look-up.ts';
import { type Result, resultsOf } from './results.ts';
import styles from './search.module.css';

interface SearchProps {
  readEarly: () => string;
  onClose: () => void;
}

/**
 * Finds pages, what has a name, and what an identifier names.
 * @param readEarly returns what was typed before it was there
 */
export default function Search({ readEarly, onClose }: SearchProps) {
  return (
    <ModalOverlay
      className={styles.overlay ?? ''}
      isOpen
      isDismissable
      onOpenChange={(isOpen) => {
        if (!isOpen) onClose();
      }}
    >
      <Modal className={styles.modal ?? ''}>
        <Dialog className={styles.dialog ?? ''} aria-label={t.search.title}>
          <Palette readEarly={readEarly} onClose={onClose} />
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

function Palette({ readEarly, onClose }: SearchProps) {
  const [, navigate] = useLocation();
  const [text, setText] = useState('');
  // After the field has the focus.
  useEffect(() => setText(readEarly()), [readEarly]);
  const id = idIn(text);
  const open = (environment: Environment, path: string) => {
    navigate(pathIn(environment, path));
    onClose();
  };
  const lookedUp = useLookUp(id, open);
  const results = useResults(id === undefined ? text : undefined);
  return (
    <Autocomplete inputValue={text} onInputChange={setText}>
      <TextField
        aria-label={t.search.label}
        autoFocus
        className={styles.field ?? ''}
        onKeyDown={({ key, target }) => {
          // Of what was typed early, no result is marked yet.
          const isMarked = target instanceof Element && target.hasAttribute('aria-activedescendant');
          const [first] = results;
          if (key === 'Enter' && !isMarked && text !== '' && first) open(first.environment, first.path);
        }}
      >
        <Input
          className={styles.input ?? ''}
          placeholder={t.search.placeholder}
          role="combobox"
          aria-expanded={results.length > 0}
          aria-haspopup="listbox"
          autoComplete="off"
        />
      </TextField>
      <ListBox
        aria-label={t.search.results}
        className={styles.list ?? ''}
        items={results}
        onAction={(key) => {
          const result = results.find((each) => each.id === key);
          if (result) open(result.environment, result.path);
        }}
      >
        {(result) => (
          <ListBoxItem id={result.id} textValue={result.title} className={styles.item ?? ''}>
            <ResultRow result={result} />
          </ListBoxItem>
        )}
      </ListBox>
      <div className={styles.foot} role="status">
        {id === undefined ? (
          <p>{footOf(text, results.length)}</p>
        ) : (
          <LookUpState id={id} state={lookedUp.state} />
        )}
      </div>
      {lookedUp.error === null ? null : (
        <div className={styles.failure}>
          <Failure error={lookedUp.error} onRetry={lookedUp.retry} />
        </div>
      )}
    </Autocomplete>
  );
}

function footOf(text: string, count: number): string {
  if (text.trim() === '') return t.search.hint;
  if (count > 0) return t.search.count(count);
  return isPartialId(text) ? t.search.incomplete : t.search.nothing(text.trim());
}

const ResultRow = ({ result: { kind, title, detail, environment } }: { result: Result }) => (
  <>
    <bdi className={styles.title}>{title}</bdi>
    <span className={styles.kind}>
      {t.search.kinds[kind]}
      {environment === 'sandbox' ? ` · ${t.environment.sandbox}` : ''}
    </span>
    {detail === undefined ? null : <bdi className={styles.detail}>{detail}</bdi>}
  </>
);

function LookUpState({ id, state }: { id: string; state: LookedUp | undefined }) {
  if (state === undefined) return <p>{t.search.looking(id)}</p>;
  if (state.kind === 'found') return <p>{t.search.openId(id)}</p>;
  const { places, note } = state;
  return (
    <>
      <p className={styles.missing}>
        {t.search.notFound}: <code>{id}</code>
      </p>
      {places.length === 0 ? null : (
        <p>{t.search.looked(places.map((place) => t.search.places[place]).join(', '))}</p>
      )}
      {note === undefined ? null : <p>{t.search[note]}</p>}
    </>
  );
}

/** Looks an identifier up as soon as it is there, and opens what it names. */
function useLookUp(id: string | undefined, open: (environment: Environment, path: string) => void) {
  const isAdmin = useIsAdmin();
  const environments = useEnvironments();
  const { data, error, refetch } = useQuery({
    queryKey: ['look-up', id, environments, isAdmin],
    enabled: id !== undefined && isId(id) && environments !== undefined,
    // What was not there a moment ago may be.
    gcTime: 0,
    queryFn: ({ signal }) => lookUp(id ?? '', lookUpPorts(environments ?? [], isAdmin, signal)),
  });
  const onFound = useEffectEvent(open);
  useEffect(() => {
    if (data?.kind === 'found') onFound(data.environment, data.path);
  }, [data]);
  return { state: data, error, retry: () => void refetch() };
}

/** Environments that the organization has; undefined until that is known. */
function useEnvironments(): readonly Environment[] | undefined {
  const { error, data } = useEndpoints('sandbox');
  const isKnown = data !== undefined || error !== null;
  const hasSandbox = !isNoSandbox(error);
  return useMemo(
    () => (isKnown ? (hasSandbox ? (['live', 'sandbox'] as const) : (['live'] as const)) : undefined),
    [isKnown, hasSandbox],
  );
}

/** @param text undefined while an identifier is looked up */
function useResults(text: string | undefined): Result[] {
  const { environment } = useEnvironment();
  const live = useEndpoints('live').data;
  const sandbox = useEndpoints('sandbox').data;
  const { data: sources } = useSources(environment);
  const { data: keys } = useKeys(useIsAdmin());
  return useMemo(() => {
    if (text === undefined) return [];
    const endpoints = (['live', 'sandbox'] as const).flatMap(
      (half) =>
        (half === 'live' ? live : sandbox)?.map(({ id, url, description }) => ({
          environment: half,
          id,
          url,
          description,
        })) ?? [],
    );
    const pages = PLACES.map(({ title, path, ofBoth }) => ({
      ...{ title: title(t), path },
      // Pages of the whole organization have one path.
      environment: ofBoth ? environment : ('live' as const),
    }));
    const named = [
      ...(sources?.pages ?? []).flatMap(({ data }) =>
        data.map((source) => ({
          ...{ kind: 'source' as const, id: source.id, title: sourceName(source) },
          ...{ environment, path: `/sources/${source.id}` },
        })),
      ),
      ...(keys?.pages ?? []).flatMap(({ data }) =>
        data.map(({ id, name }) => ({
          ...{ kind: 'key' as const, id, title: name },
          ...{ environment: 'live' as const, path: `/api-keys?key=${id}` },
        })),
      ),
    ];
    return resultsOf(text, { pages, endpoints, named, types: LOGGED_TYPES, environment });
  }, [text, live, sandbox, sources, keys, environment]);
}
