import { type ReactNode, useEffect } from 'react';
import { t } from '../text/language.ts';
import styles from './page.module.css';

export interface PageProps {
  title: string;
  /** The title, where it is more than a text. */
  heading?: ReactNode;
  about?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

/** A page: its name, what can be done on it, and what it shows. */
export function Page({ title, heading = title, about, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · ${t.product}`;
  }, [title]);
  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <div className={styles.heading}>
          <h1>{heading}</h1>
          {about === undefined ? null : <p>{about}</p>}
        </div>
        {actions === undefined ? null : <div className={styles.actions}>{actions}</div>}
      </header>
      {children}
    </div>
  );
}

/** A part of a page with a heading of its own. */
export const Card = ({
  title,
  actions,
  children,
}: {
  title?: string;
  actions?: ReactNode;
  children: ReactNode;
}) => (
  <section className={styles.card}>
    {title === undefined && actions === undefined ? null : (
      <div className={styles.head}>
        {title === undefined ? null : <h2>{title}</h2>}
        {actions}
      </div>
    )}
    {children}
  </section>
);

/**
 * A table. Where it is wider than the page it scrolls by itself, with a shadow where there is more.
 * @param label names it
 * @param columns their names, and those of the columns of numbers that follow
 * @param isStacked where there is no room for it, each row is a card instead: cells are below one another,
 * named by their `data-label`; early where it has many columns
 * @param isLandmark false where a page has several tables of that name
 */
export const Table = ({
  label,
  columns,
  numbers = [],
  isStacked = false,
  isLandmark = true,
  children,
}: {
  label: string;
  columns: readonly string[];
  numbers?: readonly string[];
  isStacked?: boolean | 'early';
  isLandmark?: boolean;
  children: ReactNode;
}) => (
  <section
    className={`${styles.scroll} ${isStacked === 'early' ? styles.early : ''}`}
    aria-label={label}
    {...(isLandmark ? {} : { role: 'group' })}
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    tabIndex={0}
  >
    <table className={`${styles.table} ${isStacked ? styles.stacked : ''}`}>
      <thead>
        <tr>
          {[...columns, ...numbers].map((name, place) => (
            <th key={name} scope="col" {...(place < columns.length ? {} : { 'data-number': '' })}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </section>
);

/** Names and what they have; none where there is nothing. */
export const Facts = ({
  facts,
}: {
  facts: readonly (readonly [name: string, value: ReactNode] | false | undefined)[];
}) => (
  <dl className={styles.facts}>
    {facts.map((fact) => fact && <FactRow key={fact[0]} name={fact[0]} value={fact[1]} />)}
  </dl>
);

const FactRow = ({ name, value }: { name: string; value: ReactNode }) => (
  <>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </>
);
