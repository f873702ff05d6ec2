//! Days of the Gregorian calendar, which is extended to all years.

/// The names of the months in English, by their first three letters.
pub const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Returns the number of days from 1970-01-01 to a day, negative before it. `month` and `day` count
/// from 1. A day after the last one of its month is a day of the next month.
pub fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March here, so that the leap day is the last day of the year.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    // 719,468 days lie between 0000-03-01 and 1970-01-01.
    year * 365 + leap_days + (month * 153 + 2) / 5 + day - 1 - 719_468
}

/// Returns true if the day exists: there is no 31 April, and a 29 February in leap years only.
pub fn is_day(year: i64, month: i64, day: i64) -> bool {
    let next = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    let length = || days_since_1970(next.0, next.1, 1) - days_since_1970(year, month, 1);
    (1..=12).contains(&month) && day >= 1 && day <= length()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_from_1970() {
        for (year, month, day, days) in [
            (1970, 1, 1, 0),
            (1970, 3, 1, 59),
            (1969, 12, 31, -1),
            (2000, 2, 29, 11_016),
            (2000, 3, 1, 11_017),
            (2024, 12, 31, 20_088),
            (1601, 1, 1, -134_774),
            (9999, 12, 31, 2_932_896),
        ] {
            assert_eq!(days_since_1970(year, month, day), days, "{year}-{month}-{day}");
        }
    }

    #[test]
    fn rejects_days_that_do_not_exist() {
        for (year, month, day, exists) in [
            (2023, 2, 28, true),
            (2023, 2, 29, false),
            (2024, 2, 29, true),
            (1900, 2, 29, false),
            (2000, 2, 29, true),
            (2023, 4, 31, false),
            (2023, 12, 31, true),
            (2023, 12, 32, false),
            (2023, 1, 0, false),
            (2023, 0, 1, false),
            (2023, 13, 1, false),
        ] {
            assert_eq!(is_day(year, month, day), exists, "{year}-{month}-{day}");
        }
    }
}
