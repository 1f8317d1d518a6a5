import type { ReactNode } from 'react';
import { Tabs as AriaTabs, Tab, TabList, TabPanel } from 'react-aria-components/Tabs';
import { Code } from './code.tsx';
import styles from './tabs.module.css';

/**
 * Several views, of which one is shown.
 * @param selected the one that is shown, where the page knows; else the first until another one is chosen
 */
export const Tabs = ({
  label,
  tabs,
  selected,
  onSelect,
}: {
  label: string;
  tabs: readonly { id: string; title: string; content: ReactNode }[];
  selected?: string;
  onSelect?: (id: string) => void;
}) => (
  <AriaTabs
    className={styles.tabs ?? ''}
    {...(selected === undefined ? {} : { selectedKey: selected })}
    onSelectionChange={(key) => onSelect?.(String(key))}
  >
    <TabList aria-label={label} className={styles.list ?? ''}>
      {tabs.map(({ id, title }) => (
        <Tab key={id} id={id} className={styles.tab ?? ''}>
          {title}
        </Tab>
      ))}
    </TabList>
    {tabs.map(({ id, content }) => (
      <TabPanel key={id} id={id} className="stack">
        {content}
      </TabPanel>
    ))}
  </AriaTabs>
);

/** The same code in several languages. */
export const CodeTabs = ({
  label,
  samples,
}: {
  label: string;
  samples: readonly { id: string; name: string; code: string }[];
}) => (
  <Tabs
    label={label}
    tabs={samples.map(({ id, name, code }) => ({
      id,
      title: name,
      content: <Code text={code} label={name} />,
    }))}
  />
);
