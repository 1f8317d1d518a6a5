import type { ReactNode, RefObject } from 'react';
import { isGone } from '../../api/failures.ts';
import { Link } from '../../parts/link.tsx';
import { Loaded, type Query } from '../../parts/loaded.tsx';
import { Card } from '../../parts/page.tsx';
import { t } from '../../text/language.ts';
import styles from './split.module.css';

/**
 * What is open of a list, beside it.
 * @param list path of the list alone
 * @param heading gets the focus when it is opened
 * @param missing stands where it does not exist
 */
export const Beside = <Data,>({
  query,
  label,
  title = label,
  list,
  heading,
  missing,
  children,
}: {
  query: Query<Data>;
  label: string;
  title?: string | undefined;
  list: string;
  heading: RefObject<HTMLHeadingElement | null>;
  missing: ReactNode;
  children: (data: Data) => ReactNode;
}) => (
  <section className={styles.beside} aria-label={label}>
    <Card>
      <div className={styles.opened}>
        <h2 ref={heading} tabIndex={-1}>
          {title}
        </h2>
        <Link to={list}>{t.deliveries.back}</Link>
      </div>
      {isGone(query.error) ? missing : <Loaded query={query}>{children}</Loaded>}
    </Card>
  </section>
);
